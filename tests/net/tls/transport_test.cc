// TLS over both transports, and what is said where it does not come about.
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/tls/server_tls.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"
#include "tests/net/tls/certificates.h"

namespace burn::test {
namespace {

using net::tls::ClientCertificates;
using net::tls::ClientFiles;
using net::tls::ServerTls;
using std::chrono::hours;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

// The server's side: listens with the files of a TestPki.
class TlsServer {
 public:
  TlsServer(Transport transport, const net::tls::ServerFiles& files, net::ListenOptions options = {})
      : tls(value_or_throw(ServerTls::open(files))) {
    options.tls = tls;
    listener = value_or_throw(listen(transport, acceptor, options));
  }

  std::string url(const std::string& host = "127.0.0.1") const {
    const auto url = listener->url();
    return url.substr(0, url.find("://") + 3) + host + url.substr(url.rfind(':'));
  }
  std::string address() const { return address_of(listener->url()); }

  std::shared_ptr<ServerTls> tls;
  TestAcceptor acceptor{true};
  std::unique_ptr<net::Listener> listener;
};

std::string failure(const std::string& url, const ClientFiles& files, std::chrono::milliseconds timeout = 5s) {
  const auto channel = net::connect_channel(url, std::make_shared<Recorder>(), timeout, files);
  return channel.ok() ? "connected" : channel.status().message().substr(("cannot connect to " + url + ": ").size());
}

class Tls : public testing::TestWithParam<Transport> {
 protected:
  std::shared_ptr<proto::Channel> connect(const std::string& url, const std::shared_ptr<Recorder>& recorder,
                                          const ClientFiles& files) {
    auto channel = net::connect_channel(url, recorder, kPatience, files);
    EXPECT_TRUE(channel.ok()) << channel.status().to_string();
    return channel.ok() ? *channel : nullptr;
  }

  TestPki pki;
};

TEST_P(Tls, CarriesFramesOfEverySizeBothWays) {
  const TlsServer server{GetParam(), pki.server};
  EXPECT_THAT(server.url(), StartsWith(GetParam() == Transport::grpc ? "grpcs://" : "wss://"));
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    const auto recorder = std::make_shared<Recorder>();
    const auto channel = connect(server.url(host), recorder, pki.client());
    ASSERT_TRUE(channel);
    const std::size_t sizes[] = {0, 1, 100, 16'383, 16'384, 16'385, 70'000, 1 << 20, 33 << 20};
    std::size_t count = 0;
    for (const auto size : sizes) channel->send(frame("frame", size, 7), proto::Lane::bulk);
    ASSERT_TRUE(recorder->wait_for_frames(std::size(sizes)));
    for (const auto& got : recorder->frames()) EXPECT_TRUE(matches(got, "frame", sizes[count++], 7)) << count;
  }
}

TEST_P(Tls, CarriesManySmallFramesBesideLargeOnes) {
  const TlsServer server{GetParam(), pki.server};
  const auto recorder = std::make_shared<Recorder>();
  const auto channel = connect(server.url(), recorder, pki.client());
  ASSERT_TRUE(channel);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&channel, t] {
      for (int k = 0; k < 200; ++k)
        channel->send(frame("x", k % 20 == 0 ? 300'000 : 10, 3), t % 2 == 0 ? proto::Lane::control : proto::Lane::bulk);
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(recorder->wait_for_frames(800));
  std::map<bool, int> right;
  for (const auto& got : recorder->frames()) ++right[matches(got, "x", 10, 3) || matches(got, "x", 300'000, 3)];
  EXPECT_EQ(right[true], 800);
}

TEST_P(Tls, TellsTheServerTheNamesOfTheClientsCertificate) {
  pki.server.client_certificates = ClientCertificates::accepted;
  TlsServer server{GetParam(), pki.server};
  const auto files = pki.client(pki.authority.issue({.common_name = "alice", .names = "URI:burn://tenant/vision"}));
  const auto named = connect(server.url(), std::make_shared<Recorder>(), files);
  const auto client = server.acceptor.client(0);
  ASSERT_TRUE(named && client);
  const auto security = client->channel->peer_security();
  EXPECT_TRUE(security.is_encrypted);
  EXPECT_THAT(security.names, AllOf(Contains("uri:burn://tenant/vision"), Contains("cn:alice")));
  const auto nameless = connect(server.url(), std::make_shared<Recorder>(), pki.client());
  ASSERT_TRUE(nameless);
  const auto second = server.acceptor.client(1);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->channel->peer_security().names.empty());
}

TEST_P(Tls, AServerThatAsksForNoCertificateLearnsNoNames) {
  TlsServer server{GetParam(), pki.server};
  const auto channel = connect(server.url(), std::make_shared<Recorder>(), pki.client(pki.authority.issue({})));
  const auto client = server.acceptor.client(0);
  ASSERT_TRUE(channel && client);
  EXPECT_TRUE(client->channel->peer_security().is_encrypted);
  EXPECT_TRUE(client->channel->peer_security().names.empty());
}

// Every way in which TLS fails, with what the client says, in tests/golden: it is the same for both transports but
// where gRPC's server does not say why it refuses a client's certificate.
TEST_P(Tls, SaysWhyItDoesNotComeAbout) {
  const bool is_grpc = GetParam() == Transport::grpc;
  const auto stranger = make_authority("another authority");
  std::map<std::string, std::string> said;
  const auto try_with = [&](const std::string& what, const Issued& shown, const ClientFiles& files,
                            const std::string& host = "127.0.0.1") {
    pki.show(shown);
    const TlsServer server{GetParam(), pki.server};
    said[what] = failure(server.url(host), files);
  };
  const auto good = pki.authority.issue({});
  try_with("wrong name", pki.authority.issue({.names = "DNS:worker.lab"}), pki.client(), "localhost");
  try_with("wrong address", pki.authority.issue({.names = "DNS:localhost"}), pki.client());
  try_with("a CN alone", pki.authority.issue({.common_name = "localhost", .names = ""}), pki.client(), "localhost");
  try_with("unknown issuer", good,
           {.ca = pki.folder.write("other.pem", stranger.certificate()), .certificate = {}, .key = {}});
  try_with("its own issuer", make_authority("self"), pki.client());
  pki.server.client_certificates = ClientCertificates::accepted;
  try_with("client of another issuer", good, pki.client(stranger.issue({.common_name = "mallory"})));
  pki.server.client_certificates = ClientCertificates::off;
  {
    TestAcceptor acceptor{true};
    const auto plain = value_or_throw(listen(GetParam(), acceptor));
    const auto address = address_of(plain->url());
    said["TLS on a plain port"] = failure((is_grpc ? "grpcs://" : "wss://") + address, pki.client());
    const TlsServer server{GetParam(), pki.server};
    said["no TLS on a TLS port"] = failure((is_grpc ? "grpc://" : "ws://") + server.address(), {});
  }
  said["no such CA"] = failure("wss://127.0.0.1:1", {.ca = "/no/ca.pem", .certificate = {}, .key = {}});

  std::string text;
  for (auto [what, words] : said) {
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"write wss://", "write SCHEME"}, {"write grpcs://", "write SCHEME"}}) {
      if (const auto at = words.find(from); at != std::string::npos) words.replace(at, from.size(), to);
    }
    text += what + ": " + words + "\n";
  }
  const std::string path = "tests/golden/tls_errors_" + name(GetParam()) + ".txt";  // from the repository's root
  std::stringstream golden;
  golden << std::ifstream{path}.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

TEST_P(Tls, AnExpiredCertificateIsSaidToBeSoWithItsDate) {
  pki.show(pki.authority.issue({.until = std::chrono::seconds{2}}));
  const TlsServer server{GetParam(), pki.server};
  std::this_thread::sleep_for(3100ms);
  EXPECT_THAT(failure(server.url(), pki.client()),
              AllOf(HasSubstr("the server's certificate expired on 20"), HasSubstr(" UTC")));
}

TEST_P(Tls, IsReplacedBelowOpenConnections) {
  const TlsServer server{GetParam(), pki.server};
  const auto recorder = std::make_shared<Recorder>();
  const auto channel = connect(server.url(), recorder, pki.client());
  ASSERT_TRUE(channel);
  const auto next = make_authority("next authority");
  const ClientFiles trusts_next{.ca = pki.folder.write("next.pem", next.certificate()), .certificate = {}, .key = {}};
  EXPECT_THAT(failure(server.url(), trusts_next), HasSubstr("not trusted"));
  pki.show(next.issue({}));
  ASSERT_TRUE(server.tls->reload().ok());
  EXPECT_TRUE(eventually([&] { return failure(server.url(), trusts_next) == "connected"; }, 12s));
  channel->send(frame("still", 100'000, 5), proto::Lane::bulk);
  ASSERT_TRUE(recorder->wait_for_frames(1));
  EXPECT_TRUE(matches(recorder->frames().front(), "still", 100'000, 5));
}

TEST_P(Tls, NoticesAPeerThatGoesAway) {
  TlsServer server{GetParam(), pki.server};
  {
    const auto channel = connect(server.url(), std::make_shared<Recorder>(), pki.client());
    ASSERT_TRUE(server.acceptor.client(0));
  }
  EXPECT_TRUE(server.acceptor.client(0)->wait_until_closed());
}

TEST_P(Tls, HandshakesThatStopHalfWayTakeNoPlaceFromOthers) {
  net::ListenOptions options;
  options.handshake_timeout_seconds = 1;
  options.max_connections = 4096;
  const TlsServer server{GetParam(), pki.server, options};
  const std::string half{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};  // a ClientHello of 512 bytes
  std::vector<RawSocket> sockets;
  for (int k = 0; k < 300; ++k) {
    sockets.push_back(RawSocket::connect(server.address()));
    sockets.back().write(half);
  }
  EXPECT_EQ(failure(server.url(), pki.client()), "connected");
  for (const auto& socket : sockets) {
    bool is_closed = false;
    (void)socket.read_until_closed(10s, &is_closed);
    EXPECT_TRUE(is_closed);
  }
}

TEST_P(Tls, BytesThatAreNoTlsEndTheConnectionAndNothingElse) {
  const TlsServer server{GetParam(), pki.server};
  const std::string inputs[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                std::string(70'000, '\0'),
                                std::string(1000, '\xff'),
                                std::string{"\x16\x03\x01\xff\xff", 5} + std::string(80'000, 'x'),
                                std::string{"\x15\x03\x01\x00\x02\x02\x28", 7},
                                std::string{"\x16\x03\x01\x00\x00", 5}};
  for (const auto& bytes : inputs) {
    const auto socket = RawSocket::connect(server.address());
    (void)socket.write(bytes);
    bool is_closed = false;
    (void)socket.read_until_closed(15s, &is_closed);
    EXPECT_TRUE(is_closed) << bytes.substr(0, 10);
  }
  EXPECT_EQ(failure(server.url(), pki.client()), "connected");
}

INSTANTIATE_TEST_SUITE_P(Transports, Tls, testing::Values(Transport::websocket, Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST(TlsWebSocket, CountsHowHandshakesEnd) {
  using net::tls::HandshakeResult;
  TestPki pki;
  const TlsServer server{Transport::websocket, pki.server};
  EXPECT_EQ(failure(server.url(), pki.client()), "connected");
  EXPECT_THAT(failure("ws://" + server.address(), {}), HasSubstr("the server speaks TLS there"));
  const auto socket = RawSocket::connect(server.address());
  socket.write("\x16\x03\x01");
  RawSocket::connect(server.address()).reset();
  const auto count = [&](HandshakeResult result) { return server.tls->counted(result); };
  EXPECT_TRUE(eventually([&] { return count(HandshakeResult::ok) == 1; }));
  EXPECT_TRUE(eventually([&] { return count(HandshakeResult::plain_text) == 1; }));
  EXPECT_TRUE(eventually([&] { return count(HandshakeResult::cut) == 1; }));
}

TEST(TlsUnixSocket, StaysPlain) {
  TestPki pki;
  const TlsServer server{Transport::unix_socket, pki.server};
  EXPECT_EQ(failure(server.listener->url(), {}), "connected");
}

}  // namespace
}  // namespace burn::test
