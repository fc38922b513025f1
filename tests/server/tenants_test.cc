// A worker that speaks TLS and has tenants, over real sockets.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "daemon/tenant_rules.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/net/support.h"
#include "tests/net/tls/certificates.h"
#include "tests/server/process.h"
#include "tests/session/answers.h"
#include "tests/session/programs.h"

namespace burn::server {

using namespace session;
namespace {

using net::tls::ClientCertificates;
using std::chrono::seconds;
using testing::HasSubstr;

std::string hex(std::string_view token) {
  std::string text = "sha256:";
  for (const unsigned byte : daemon::digest_of_token(token)) text += fmt::format("{:02x}", byte);
  return text;
}

constexpr const char* kVision = "a token of vision";
constexpr const char* kText = "a token of text";

class TenantsOfAWorker : public testing::Test {
 protected:
  TenantsOfAWorker() {
    options_.ws = options_.grpc = "127.0.0.1:0";
    options_.tls = pki_.server;
    options_.tls.client_certificates = ClientCertificates::accepted;
    options_.tenant_file = pki_.folder.path("tenants.toml");
    options_.audit_log = pki_.folder.path("audit.log");
    list("");
  }

  // `more`: keys of the tenant vision.
  void list(const std::string& more) const {
    pki_.folder.write("tenants.toml",
                      fmt::format("[[tenant]]\nname = \"text\"\ntokens = [\"{}\"]\n[[tenant]]\nname = \"vision\"\n"
                                  "tokens = [\"{}\"]\ncertificates = [\"uri:burn://tenant/vision\"]\n{}",
                                  hex(kText), hex(kVision), more));
  }
  net::ConnectOptions with(const std::string& token) const {
    net::ConnectOptions options;
    options.token = token;
    options.tls = pki_.client();
    return options;
  }
  net::ConnectOptions with_certificate() const {
    net::ConnectOptions options;
    options.tls = pki_.client(pki_.authority.issue({.common_name = "v", .names = "URI:burn://tenant/vision"}));
    return options;
  }
  static std::string failure(const std::string& url, const net::ConnectOptions& options) {
    const auto session = net::connect(url, options);
    return session.ok() ? "connected" : session.status().message();
  }
  std::string audit() const {
    std::ifstream file{options_.audit_log};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  test::TestPki pki_;
  ServerOptions options_;
};

void expect_served(net::RemoteSession& session) {
  EXPECT_TRUE(session.define(1, add_program({1000}), {}).ok());
  EXPECT_TRUE(session.write(1, tensor({1000}, std::vector<float>(1000, 1.5f))).ok());
  EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
  const auto sum = read(session, 2);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(values(*sum), std::vector<float>(1000, 3.0f));
}

TEST_F(TenantsOfAWorker, AreServedByTokenAndCertificateOverBothTransports) {
  Server server{options_};
  ASSERT_EQ(server.urls().size(), 2u);
  EXPECT_TRUE(server.urls()[0].starts_with("wss://")) << server.urls()[0];
  EXPECT_TRUE(server.urls()[1].starts_with("grpcs://")) << server.urls()[1];
  for (const auto& url : server.urls()) {
    for (const auto& options : {with(kVision), with(kText), with_certificate()}) {
      const auto session = net::connect(url, options);
      ASSERT_TRUE(session.ok()) << session.status().to_string();
      expect_served(**session);
    }
    EXPECT_THAT(failure(url, with("")), HasSubstr("a token is asked for here"));
    EXPECT_THAT(failure(url, with("no such token")), HasSubstr("this token is not known here"));
    auto both = with_certificate();
    both.token = kText;
    EXPECT_THAT(failure(url, both), HasSubstr("the token is of tenant text, the certificate of tenant vision"));
  }
  server.stop();
  const auto log = audit();
  EXPECT_THAT(log, HasSubstr("\"event\":\"opened\""));
  EXPECT_THAT(log, HasSubstr("\"tenant\":\"vision\",\"identity\":\"certificate uri:burn://tenant/vision\""));
  EXPECT_THAT(log, HasSubstr("\"event\":\"closed\""));
  EXPECT_THAT(log, HasSubstr("\"event\":\"refused\""));
  EXPECT_EQ(log.find(kVision), std::string::npos) << "a token";
}

TEST_F(TenantsOfAWorker, WhereACertificateIsRequiredItIsSaidThatThereIsNone) {
  options_.tls.client_certificates = ClientCertificates::required;
  Server server{options_};
  for (const auto& url : server.urls()) {
    EXPECT_THAT(failure(url, with(kVision)),
                HasSubstr("a client certificate is asked for here (BURN_TLS_CERT, BURN_TLS_KEY)"));
    EXPECT_EQ(failure(url, with_certificate()), "connected");
  }
}

TEST_F(TenantsOfAWorker, HaveQuotasOfTheirOwn) {
  list("memory = 10000\nsessions = 2\nprograms = 1\nsession-memory = 9000\n");
  Server server{options_};
  const auto first = value_or_throw(net::connect(server.url(), with(kVision)));
  const auto second = value_or_throw(net::connect(server.url(), with(kVision)));
  EXPECT_THAT(failure(server.url(), with(kVision)), HasSubstr("tenant vision may have 2 sessions"));
  EXPECT_EQ(failure(server.url(), with(kText)), "connected");
  ASSERT_TRUE(first->write(1, tensor({1500}, std::vector<float>(1500))).ok());
  ASSERT_TRUE(read(*first, 1).ok());
  ASSERT_TRUE(second->write(1, tensor({1001}, std::vector<float>(1001))).ok());
  EXPECT_THAT(read(*second, 1).status().message(), HasSubstr("the sessions of tenant vision may hold together, 10000"));
  ASSERT_TRUE(second->write(2, tensor({1000}, std::vector<float>(1000))).ok());
  EXPECT_TRUE(read(*second, 2).ok());
}

TEST_F(TenantsOfAWorker, MayUseSomeDevicesAlone) {
  options_.device = "null,cpu";
  list("devices = [\"cpu\"]\n");
  Server server{options_};
  EXPECT_THAT(failure(server.url(), with(kVision)), HasSubstr("tenant vision may not use null"));
  EXPECT_EQ(failure(server.url() + "/1", with(kVision)), "connected");
  EXPECT_EQ(failure(server.url(), with(kText)), "connected");
}

TEST_F(TenantsOfAWorker, EndWhenTheyAreDisabled) {
  Server server{options_};
  const auto vision = value_or_throw(net::connect(server.url(), with(kVision)));
  const auto text = value_or_throw(net::connect(server.url(), with(kText)));
  list("disabled = true\n");
  ASSERT_TRUE(server.reload_tokens().ok());
  EXPECT_TRUE(test::eventually([&] { return !vision->health().ok(); }));
  EXPECT_THAT(vision->health().message(), HasSubstr("tenant vision is disabled"));
  expect_served(*text);
  EXPECT_THAT(failure(server.url(), with(kVision)), HasSubstr("tenant vision is disabled"));
}

// Says a hello and returns what the server says first.
proto::Body say(const std::string& url, const net::tls::ClientFiles& files, const proto::Hello& hello,
                std::shared_ptr<proto::Channel>& channel) {
  const auto recorder = std::make_shared<test::Recorder>();
  channel = value_or_throw(net::connect_channel(url, recorder, test::kPatience, files));
  channel->send(proto::encode({0, hello, {}}), proto::Lane::control);
  EXPECT_TRUE(recorder->wait_for_frames(1));
  return value_or_throw(proto::decode(recorder->frames().front())).body;
}

TEST_F(TenantsOfAWorker, ASessionIsResumedByItsTenantAlone) {
  Server server{options_};
  for (const auto& url : server.urls()) {
    std::shared_ptr<proto::Channel> first, second, third;
    proto::Hello hello{proto::kProtocolVersion, 0, "test", kVision};
    hello.lease_seconds = 20;
    const auto opened = say(url, pki_.client(), hello, first);
    const auto* welcome = std::get_if<proto::Welcome>(&opened);
    ASSERT_TRUE(welcome);
    proto::Hello again = hello;
    again.resume = proto::Resume{};
    again.resume->session = welcome->info.session;
    again.resume->secret = welcome->secret;
    first.reset();
    again.token = kText;
    const auto stolen = say(url, pki_.client(), again, second);
    const auto* close = std::get_if<proto::Close>(&stolen);
    ASSERT_TRUE(close);
    EXPECT_EQ(close->status.code(), StatusCode::not_found);
    again.token = kVision;
    const auto resumed = say(url, pki_.client(), again, third);
    ASSERT_TRUE(std::get_if<proto::Welcome>(&resumed));
  }
}

TEST_F(TenantsOfAWorker, AProgramReadsItsFilesAgainOnASignal) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--tls-cert", options_.tls.certificate,
                   "--tls-key", options_.tls.key, "--tenants", options_.tenant_file, "--audit-log",
                   options_.audit_log}};
  const auto line = process.read_line();
  ASSERT_TRUE(line.starts_with("listening wss://")) << line;
  const auto url = line.substr(line.find("wss://"));
  EXPECT_EQ(failure(url, with(kVision)), "connected");
  const auto next = test::make_authority("next");
  auto options = with(kVision);
  options.tls.ca = pki_.folder.write("next.pem", next.certificate());
  EXPECT_THAT(failure(url, options), HasSubstr("not trusted"));
  pki_.show(next.issue({}));
  list("disabled = true\n");
  process.send(SIGHUP);
  EXPECT_TRUE(test::eventually([&] { return failure(url, options).find("is disabled") != std::string::npos; }));
  list("weight = 1000\n");  // which is wrong
  process.send(SIGHUP);
  EXPECT_TRUE(test::eventually([&] { return audit().find("1000 is not 1 to 100") != std::string::npos; }));
  EXPECT_THAT(failure(url, options), HasSubstr("is disabled"));
  list("");
  process.send(SIGHUP);
  EXPECT_TRUE(test::eventually([&] { return failure(url, options) == "connected"; }));
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(audit(), HasSubstr("\"event\":\"drain\""));
}

TEST_F(TenantsOfAWorker, AProgramSaysWhatIsWrongWithItsFilesBeforeItStarts) {
  pki_.folder.write("server.key", pki_.authority.issue({}).key());
  for (const auto* check : {"--check-config", "--insecure"}) {
    Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--tls-cert", options_.tls.certificate,
                     "--tls-key", options_.tls.key, check}};
    EXPECT_THAT(process.read_errors(), HasSubstr("does not belong to the certificate \"server\""));
    EXPECT_EQ(process.wait(), 1);
  }
  Process process{{BURN_SERVER, "--client-certificates", "required"}};
  EXPECT_THAT(process.read_errors(), HasSubstr("client-certificates needs tls-cert"));
  EXPECT_EQ(process.wait(), 1);
}

}  // namespace
}  // namespace burn::server
