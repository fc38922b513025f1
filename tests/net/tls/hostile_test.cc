// Peers and files that TLS is not meant for: old versions, endless chains, handshakes that stop half way by the
// thousand, certificates that change all the time.
#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "net/tls/identity.h"
#include "net/tls/server_tls.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"
#include "tests/net/tls/certificates.h"

namespace burn::test {
namespace {

using net::tls::ClientCertificates;
using net::tls::ClientFiles;
using net::tls::ContextPtr;
using net::tls::HandshakeResult;
using net::tls::ServerTls;
using net::tls::SslPtr;
using testing::AnyOf;
using testing::HasSubstr;

class HostileTls : public testing::TestWithParam<Transport> {
 protected:
  HostileTls() { std::signal(SIGPIPE, SIG_IGN); }  // of OpenSSL's own writes

  void serve(net::ListenOptions options = {}) {
    tls = value_or_throw(ServerTls::open(pki.server));
    options.tls = tls;
    listener = value_or_throw(listen(GetParam(), acceptor, options));
  }
  std::string address() const { return address_of(listener->url()); }
  std::string url() const { return listener->url(); }

  std::string failure(const ClientFiles& files) const {
    const auto channel = net::connect_channel(url(), std::make_shared<Recorder>(), kPatience, files);
    return channel.ok() ? "connected" : channel.status().message();
  }

  // A handshake by OpenSSL alone. 1: it came about, as far as this end knows.
  int shake(SSL_CTX* context) const {
    const auto socket = RawSocket::connect(address());
    const SslPtr ssl{SSL_new(context)};
    SSL_set_fd(ssl.get(), socket.descriptor());
    if (SSL_connect(ssl.get()) != 1) return 0;
    char byte = 0;
    return SSL_read(ssl.get(), &byte, 1) > 0 ? 1 : 0;  // with TLS 1.3 a server refuses after the client's end
  }

  TestPki pki;
  std::shared_ptr<ServerTls> tls;
  TestAcceptor acceptor{true};
  std::unique_ptr<net::Listener> listener;
};

TEST_P(HostileTls, AClientOfAnOlderVersionIsRefused) {
  serve();
  const ContextPtr context{SSL_CTX_new(TLS_client_method())};
  SSL_CTX_set_security_level(context.get(), 0);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
  EXPECT_EQ(shake(context.get()), 0);
  if (GetParam() == Transport::websocket)
    EXPECT_TRUE(eventually([&] { return tls->counted(HandshakeResult::version) == 1; }));
  EXPECT_EQ(failure(pki.client()), "connected");
}

// A certificate chain of a megabyte.
std::vector<Issued> endless_chain(const Issued& authority) {
  std::vector<Issued> chain;
  std::string names = "DNS:a.lab";
  for (int k = 0; k < 400; ++k) names += ",DNS:" + std::string(60, 'x') + std::to_string(k) + ".lab";
  for (int k = 0; k < 40; ++k) chain.push_back(authority.issue({.common_name = "c", .names = names}));
  return chain;
}

TEST_P(HostileTls, AClientsChainOfAMegabyteEndsItsConnectionAlone) {
  pki.server.client_certificates = ClientCertificates::accepted;
  serve();
  const auto own = pki.authority.issue({.common_name = "c"});
  const auto chain = endless_chain(pki.authority);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const ContextPtr context{SSL_CTX_new(TLS_client_method())};
    SSL_CTX_set_max_proto_version(context.get(), version);
    SSL_CTX_use_certificate(context.get(), own.x509());
    SSL_CTX_use_PrivateKey(context.get(), own.private_key());
    for (const auto& each : chain) SSL_CTX_add1_chain_cert(context.get(), each.x509());
    EXPECT_EQ(shake(context.get()), 0);
  }
  EXPECT_EQ(failure(pki.client()), "connected");
}

TEST_P(HostileTls, AServersChainOfAMegabyteIsRefused) {
  std::string text = pki.authority.issue({}).certificate();
  for (const auto& each : endless_chain(pki.authority)) text += each.certificate();
  pki.folder.write("server.pem", text);
  const auto opened = ServerTls::open(pki.server);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().message(), AnyOf(HasSubstr("bytes"), HasSubstr("issuer"), HasSubstr("chain")));
}

TEST_P(HostileTls, AClientWhoseCertificateHasExpiredIsTold) {
  pki.server.client_certificates = ClientCertificates::accepted;
  serve();
  auto files = pki.client(pki.authority.issue({.common_name = "late", .until = std::chrono::seconds{2}}));
  EXPECT_EQ(failure(files), "connected");
  std::this_thread::sleep_for(3100ms);
  // A client reads its files again only when they change; it looks at the dates of its own certificate then.
  EXPECT_THAT(failure(files),
              AnyOf(HasSubstr("the server refuses this client's certificate: it has expired (BURN_TLS_CERT)"),
                    HasSubstr("the server went away when it had this client's certificate (BURN_TLS_CERT)")));
}

TEST_P(HostileTls, TenThousandHandshakesThatStopHalfWayKeepNoOtherClientOut) {
  net::ListenOptions options;
  options.handshake_timeout_seconds = 2;
  options.max_connections = 4096;
  serve(options);
  const std::string half{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};  // of a ClientHello of 512 bytes
  constexpr int kWaves = 20, kWave = 500;
  for (int wave = 0; wave < kWaves; ++wave) {
    std::vector<RawSocket> sockets;
    for (int k = 0; k < kWave; ++k) {
      sockets.push_back(RawSocket::connect(address()));
      (void)sockets.back().write(half);
    }
    EXPECT_EQ(failure(pki.client()), "connected") << wave;
  }
  EXPECT_EQ(failure(pki.client()), "connected");
}

TEST_P(HostileTls, TwentyCertificatesUnderTrafficLoseNoFrame) {
  serve();
  constexpr int kChannels = 8, kSwaps = 20;
  std::vector<std::shared_ptr<Recorder>> recorders;
  std::vector<std::shared_ptr<proto::Channel>> channels;
  for (int k = 0; k < kChannels; ++k) {
    recorders.push_back(std::make_shared<Recorder>());
    channels.push_back(value_or_throw(net::connect_channel(url(), recorders.back(), kPatience, pki.client())));
  }
  std::atomic<bool> is_over = false;
  std::vector<std::size_t> sent(kChannels, 0);
  std::thread traffic{[&] {
    while (!is_over) {
      for (int k = 0; k < kChannels; ++k) {
        channels[k]->send(frame("x", 3000, 5), proto::Lane::control);
        ++sent[k];
      }
      std::this_thread::sleep_for(1ms);
    }
  }};
  for (int swap = 0; swap < kSwaps; ++swap) {
    pki.show(pki.authority.issue({.common_name = "server " + std::to_string(swap)}));
    ASSERT_TRUE(tls->reload().ok());
    EXPECT_EQ(failure(pki.client()), "connected") << swap;
  }
  is_over = true;
  traffic.join();
  for (int k = 0; k < kChannels; ++k) {
    ASSERT_TRUE(recorders[k]->wait_for_frames(sent[k])) << k;
    for (const auto& got : recorders[k]->frames()) ASSERT_TRUE(matches(got, "x", 3000, 5)) << k;
  }
}

std::string issuers_beside(const Issued& authority, int count, const std::string& prefix) {
  auto text = authority.certificate();
  for (int k = 0; k < count; ++k) text += make_authority(prefix + std::to_string(k)).certificate();
  return text;
}

TEST_P(HostileTls, AThousandIssuersOfClientsAreTrusted) {
  pki.server.client_certificates = ClientCertificates::accepted;
  const auto files = pki.client(pki.authority.issue({.common_name = "c"}));
  pki.server.client_ca = pki.folder.write("many.pem", issuers_beside(pki.authority, 1000, "authority "));
  serve();
  EXPECT_EQ(failure(files), "connected");
}

INSTANTIATE_TEST_SUITE_P(Transports, HostileTls, testing::Values(Transport::websocket, Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST(TlsIssuers, OfClientsAreNotMoreThanAMessageHasRoomFor) {
  TestPki pki;
  pki.server.client_certificates = ClientCertificates::accepted;
  pki.server.client_ca = pki.folder.write("many.pem", issuers_beside(pki.authority, 1200, std::string(50, 'a')));
  const auto opened = ServerTls::open(pki.server);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().message(), HasSubstr("the names of the 1201 issuers of clients' certificates have "));
}

TEST(TlsIssuers, TenThousandAreMoreThanAFileMayHave) {
  TestPki pki;
  const auto one = make_authority().certificate();
  std::string issuers;
  for (int k = 0; k < 10'000; ++k) issuers += one;
  const auto read =
      net::tls::ClientIdentity::read({.ca = pki.folder.write("many.pem", issuers), .certificate = {}, .key = {}});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("many.pem has more than 1048576 bytes"));
}

TEST(TlsIdentityUnderChange, IsAlwaysAWholeOne) {
  TestPki pki;
  const auto tls = value_or_throw(ServerTls::open(pki.server));
  std::atomic<bool> is_over = false;
  std::thread writer{[&] {
    while (!is_over) {
      const auto next = pki.authority.issue({});
      pki.show(next);
      // In place, as an editor writes: a reader may see a part of it.
      std::ofstream{pki.server.certificate} << next.certificate();
      std::this_thread::sleep_for(2ms);
    }
  }};
  int taken = 0;
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < end) {
    const auto read = tls->reload();
    taken += read.ok() ? 1 : 0;
    const auto identity = tls->current();
    EXPECT_EQ(SSL_CTX_check_private_key(identity->context()), 1);
  }
  is_over = true;
  writer.join();
  EXPECT_TRUE(tls->reload().ok());
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace burn::test
