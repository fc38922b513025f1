// Tenants: the file that lists them, which client is of which, and what is written of their sessions.
#include "daemon/tenants.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/admission_control.h"
#include "daemon/audit_log.h"
#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

using testing::HasSubstr;

constexpr const char* kPath = "/etc/burn/tenants.toml";

std::string hex(std::string_view token) {
  std::string text = "sha256:";
  for (const unsigned byte : digest_of_token(token)) text += fmt::format("{:02x}", byte);
  return text;
}

std::string why(const std::string& text) { return parse_tenants(text, kPath).status().message(); }

class TenantsTest : public testing::Test {
 protected:
  void write(const std::string& text) const {
    std::ofstream{path_} << text;
    ::chmod(path_.c_str(), 0600);
  }
  AdmissionControl control() const {
    return AdmissionControl{Credentials{.tenant_file = path_}, AdmissionControl::kUnlimited};
  }

  const test::TempFolder folder_;
  const std::string path_ = (folder_ / "tenants.toml").string();
  const std::string two_ = "[[tenant]]\nname = \"vision\"\ntokens = [\"" + hex("a token of vision") +
                           "\"]\ncertificates = [\"uri:burn://tenant/vision\", \"dns:*.train.lab\"]\nsessions = 2\n"
                           "session-lease = 5\n[[tenant]]\nname = \"text\"\ntokens = [\"" +
                           hex("a token of text") + "\"]\n";
};

TEST_F(TenantsTest, TakeEveryKey) {
  const auto all = parse_tenants(
      "[[tenant]]\nname = \"vision-2\"\nweight = 4\nclass = \"low\"\noperator = true\ndisabled = true\n"
      "devices = [\"cpu\"]\nsessions = 3\nsessions-per-peer = 8\nmemory = \"2G\"\nsession-memory = 1000\nprograms = "
      "5\nrun-timeout = 6\n"
      "session-lease = 7\n",
      kPath);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  const auto& one = all->front();
  EXPECT_EQ(one.name, "vision-2");
  EXPECT_EQ(one.limits.weight, 4u);
  EXPECT_EQ(one.limits.priority, serving::TenantClass::low);
  EXPECT_EQ(one.limits.memory, std::uint64_t{2} << 30);
  EXPECT_TRUE(one.is_operator && one.is_disabled);
  EXPECT_EQ(one.devices, std::vector<std::string>{"cpu"});
  EXPECT_EQ(one.sessions, 3u);
  EXPECT_EQ(one.sessions_per_peer, 8u);
  EXPECT_EQ(one.session_memory, 1000u);
  EXPECT_EQ(one.programs, 5u);
  EXPECT_EQ(one.run_timeout, std::chrono::seconds{6});
  EXPECT_EQ(one.session_lease, std::chrono::seconds{7});
}

TEST_F(TenantsTest, SayWhereAndWhyTheyAreWrong) {
  const std::string begin = "[[tenant]]\nname = \"a\"\n";
  EXPECT_EQ(why(""), "there is no [[tenant]] in /etc/burn/tenants.toml");
  EXPECT_EQ(why("[[tenant]]\nweight = 1\n"), "line 1 of /etc/burn/tenants.toml: name: every tenant has one");
  EXPECT_EQ(why("[[tenant]]\nname = \"a\\nb\"\n"),
            "line 1 of /etc/burn/tenants.toml: name: \"a\\nb\" is not 1 to 63 of a-z, 0-9 and -");
  EXPECT_THAT(why("[[tenant]]\nname = \"" + std::string(64, 'a') + "\"\n"), HasSubstr("is not 1 to 63"));
  EXPECT_THAT(why("[[tenant]]\nname = \"Vision\"\n"), HasSubstr("is not 1 to 63 of a-z"));
  EXPECT_EQ(why(begin + "weight = 101\n"), "line 3 of /etc/burn/tenants.toml: tenant a: weight: 101 is not 1 to 100");
  EXPECT_THAT(why(begin + "weight = \"much\"\n"), HasSubstr("tenant a: weight: a number is wanted, not \"much\""));
  EXPECT_THAT(why(begin + "memory = \"40Q\"\n"), HasSubstr("memory: a number of bytes"));
  EXPECT_THAT(why(begin + "wieght = 1\n"), HasSubstr("wieght: a tenant has no such key; it has certificates, class"));
  EXPECT_THAT(why(begin + "class = \"best\"\n"), HasSubstr("high, normal or low is wanted, not \"best\""));
  EXPECT_THAT(why(begin + "tokens = [\"a secret\"]\n"), HasSubstr("tokens: write \"sha256:\" and 64 digits"));
  EXPECT_THAT(why(begin + "tokens = [\"a secret\"]\n"), testing::Not(HasSubstr("a secret")));
  EXPECT_THAT(why(begin + "certificates = [\"alice\"]\n"), HasSubstr("\"alice\" does not begin with uri:"));
  EXPECT_THAT(why(begin + "disabled = 1\n"), HasSubstr("true or false is wanted"));
  EXPECT_THAT(why("sessions = 1\n" + begin), HasSubstr("only [[tenant]] may be there, not \"sessions\""));
  EXPECT_THAT(why(begin + "tokens = [\"sha256"), HasSubstr("line 3, column"));
  EXPECT_EQ(why(begin + begin), "/etc/burn/tenants.toml: there are two tenants a");
  const auto token = "tokens = [\"" + hex("one token") + "\"]\n";
  EXPECT_EQ(why(begin + token + "[[tenant]]\nname = \"b\"\n" + token),
            "/etc/burn/tenants.toml: tenants a and b have the same token");
  std::string many;
  for (int k = 0; k < 257; ++k) many += fmt::format("[[tenant]]\nname = \"t{}\"\n", k);
  EXPECT_EQ(why(many), "/etc/burn/tenants.toml has 257 tenants; 256 may be");
}

TEST_F(TenantsTest, AreKnownByTokenAndByCertificate) {
  write(two_);
  auto control = this->control();
  ASSERT_TRUE(control.reload().ok());
  EXPECT_FALSE(control.is_open());
  const auto tenant = [&](const std::string& token, std::vector<std::string> names = {}) {
    const auto found = control.identify(token, {.is_encrypted = true, .names = std::move(names)});
    return found.ok() ? found->tenant : found.status().message();
  };
  EXPECT_EQ(tenant("a token of vision"), "vision");
  EXPECT_EQ(tenant("a token of text"), "text");
  EXPECT_EQ(tenant("", {"uri:burn://tenant/vision", "cn:x"}), "vision");
  EXPECT_EQ(tenant("", {"dns:a.train.lab"}), "vision");
  EXPECT_EQ(tenant("", {"dns:a.b.train.lab"}), "the certificate is no tenant's: dns:a.b.train.lab");
  EXPECT_EQ(tenant("", {"cn:a.train.lab"}), "the certificate is no tenant's: cn:a.train.lab");
  EXPECT_EQ(tenant("a token of vision", {"dns:a.train.lab"}), "vision");
  EXPECT_EQ(tenant("a token of text", {"dns:a.train.lab"}),
            "the token is of tenant text, the certificate of tenant vision");
  EXPECT_EQ(tenant(""), "a token is asked for here (BURN_TOKEN)");
  EXPECT_EQ(tenant("another token"), "this token is not known here");
  EXPECT_EQ(tenant("another token", {"dns:a.train.lab"}), "this token is not known here");
  EXPECT_EQ(control.identify("a token of text", {})->proof.substr(0, 6), "token ");
}

TEST_F(TenantsTest, HaveSoManySessions) {
  write(two_);
  auto control = this->control();
  ASSERT_TRUE(control.reload().ok());
  const net::Caller caller{.address = "10.0.0.1:4000"};
  auto first = control.admit("a token of vision", caller), second = control.admit("a token of vision", caller);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->max_lease, std::chrono::seconds{5});
  EXPECT_EQ(control.admit("a token of vision", caller).status(),
            resource_exhausted("tenant vision may have 2 sessions"));
  EXPECT_TRUE(control.admit("a token of text", caller).ok());
  EXPECT_EQ(control.tenants().by_name("vision")->refused(), 1u);
  first->permit.reset();
  EXPECT_TRUE(control.admit("a token of vision", caller).ok());
}

TEST_F(TenantsTest, AreReadAgainWholeOrNotAtAll) {
  write(two_);
  auto control = this->control();
  ASSERT_TRUE(control.reload().ok());
  write(two_ + "weight = 0\n");
  EXPECT_FALSE(control.reload().ok());
  EXPECT_TRUE(control.identify("a token of text", {}).ok());
  write(two_ + "disabled = true\n");
  ASSERT_TRUE(control.reload().ok());
  EXPECT_EQ(control.identify("a token of text", {}).status().code(), StatusCode::permission_denied);
  EXPECT_EQ(control.identify("a token of text", {}).status().message(), "tenant text is disabled");
  write(two_.substr(0, two_.rfind("[[tenant]]")));
  ASSERT_TRUE(control.reload().ok());
  EXPECT_EQ(control.identify("a token of text", {}).status().code(), StatusCode::unauthenticated);
  EXPECT_EQ(control.tenants().all().size(), 1u);
}

TEST_F(TenantsTest, MayHaveAFileOfTokens) {
  const auto tokens = (folder_ / "tokens").string();
  std::ofstream{tokens} << "# of vision\na token in a file\n";
  ::chmod(tokens.c_str(), 0600);
  write("[[tenant]]\nname = \"vision\"\ntoken-file = \"tokens\"\n");
  auto control = this->control();
  ASSERT_TRUE(control.reload().ok()) << control.reload().to_string();
  EXPECT_EQ(control.identify("a token in a file", {})->tenant, "vision");
  ::chmod(tokens.c_str(), 0644);
  EXPECT_THAT(control.reload().message(), HasSubstr("other users of this machine may read"));
}

TEST_F(TenantsTest, AFileThatOthersMayChangeIsRefused) {
  write(two_);
  ::chmod(path_.c_str(), 0666);
  EXPECT_THAT(read_tenants(path_).status().message(), HasSubstr("other users of this machine may change"));
  EXPECT_EQ(read_tenants("/no/file").status().code(), StatusCode::not_found);
}

TEST(RequiredCertificates, AreAskedForOverTlsAlone) {
  const AdmissionControl control{Credentials{.requires_certificates = true}, AdmissionControl::kUnlimited};
  EXPECT_FALSE(control.is_open());
  EXPECT_EQ(control.identify("", {.is_encrypted = true, .names = {}}).status().message(),
            "a client certificate is asked for here (BURN_TLS_CERT, BURN_TLS_KEY)");
  EXPECT_EQ(control.identify("", {.is_encrypted = true, .names = {"cn:alice"}})->proof, "certificate cn:alice");
  EXPECT_TRUE(control.identify("", {}).ok()) << "a unix socket";
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

TEST(AuditLog, HasALineForEachEvent) {
  const test::TempFolder folder;
  const auto path = (folder / "audit.log").string();
  {
    AuditLog log{path};
    log.write("early", "ok");
    EXPECT_EQ(log.lines_lost(), 1u) << "it is not open";
    ASSERT_TRUE(log.open().ok());
    const net::Identity identity{.tenant = "vision", .proof = "token 01020304"};
    log.write({.kind = net::SessionEvent::Kind::opened,
               .session = "s-1",
               .identity = &identity,
               .peer = "10.0.0.1:1",
               .client = "a \"client\"\n",
               .device = "cpu"});
    proto::SessionStats stats;
    stats.programs = 2;
    stats.session.runs = 3;
    log.write({.kind = net::SessionEvent::Kind::closed, .session = "s-1", .identity = &identity, .stats = &stats});
    log.write("reload", "line 7 is wrong");
  }
  const auto text = text_of(path);
  EXPECT_THAT(text, testing::MatchesRegex(
                        "\\{\"time\":\"20[^\"]*Z\",\"event\":\"opened\",\"session\":\"s-1\",\"tenant\":\"vision\","
                        "\"identity\":\"token 01020304\",\"peer\":\"10.0.0.1:1\",\"client\":\"a "
                        "\\\\\"client\\\\\"\\\\\\\\n\",\"device\":\"cpu\"\\}\n.*\"event\":\"closed\".*\"programs\":2,"
                        "\"runs\":3,.*\n.*\"event\":\"reload\",\"outcome\":\"line 7 is wrong\"\\}\n"));
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(AuditLog, GoesOnInANewFileWhenItIsOpenedAgain) {
  const test::TempFolder folder;
  const auto path = (folder / "audit.log").string(), old = (folder / "audit.log.1").string();
  {
    AuditLog log{path};
    ASSERT_TRUE(log.open().ok());
    log.write("first", "ok");
    while (text_of(path).empty()) std::this_thread::yield();
    std::filesystem::rename(path, old);
    ASSERT_TRUE(log.open().ok());
    log.write("second", "ok");
  }
  EXPECT_THAT(text_of(old), HasSubstr("\"first\""));
  EXPECT_THAT(text_of(path), HasSubstr("\"second\""));
}

TEST(AuditLog, CountsWhatADiskDoesNotTake) {
  AuditLog log{"/dev/full"};
  ASSERT_TRUE(log.open().ok());
  EXPECT_TRUE(log.is_writable());
  log.write("reload", "ok");
  while (log.lines_lost() == 0) std::this_thread::yield();
  EXPECT_FALSE(log.is_writable());
  EXPECT_EQ(AuditLog{"/no/folder/audit.log"}.open().code(), StatusCode::unavailable);
}

TEST(AuditLog, DoesNotLetPeersFillADisk) {
  const test::TempFolder folder;
  AuditLog log{(folder / "audit.log").string()};
  ASSERT_TRUE(log.open().ok());
  for (int k = 0; k < 1000; ++k) log.write({.kind = net::SessionEvent::Kind::refused, .peer = "10.0.0.1:1"});
  EXPECT_GE(log.lines_lost(), 1000 - 3 * AuditLog::kMaxRefusedASecond);
}

}  // namespace
}  // namespace burn::daemon
