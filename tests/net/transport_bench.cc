// Measures the transports against raw sockets of the same kind, between two processes: 64-byte ping-pong and 64 x 1 MiB
// one way.
//   build/bin/transport_bench [raw_tcp] [raw_tls] [websocket] [websocket_tls] [grpc] [grpc_tls] [raw_unix] [unix]
// One JSON object a line. "wait": the caller's thread sleeps until the answer is there, as a blocking read does;
// "handler": the answer is sent back from the transport's thread.
#include <algorithm>
#include <array>
#include <cstdio>
#include <semaphore>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tls/server_tls.h"
#include "net/transport/socket.h"
#include "tests/net/support.h"
#include "tests/net/tls/certificates.h"

namespace burn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPings = 20'000, kWarmups = 1'000;
constexpr int kBlocks = 64, kRepetitions = 15;
constexpr std::size_t kBlockBytes = 1 << 20;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

double percentile(std::vector<double>& values, double p) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

void report_latency(const std::string& what, std::vector<double> us) {
  std::printf("{\"bench\":\"ping_64b\",\"transport\":\"%s\",\"p50\":%.1f,\"p99\":%.1f,\"unit\":\"us\"}\n", what.c_str(),
              percentile(us, 0.5), percentile(us, 0.99));
  std::fflush(stdout);
}

void report_throughput(const std::string& what, std::vector<double> seconds) {
  const double bytes = double{kBlocks} * double{kBlockBytes};
  std::printf("{\"bench\":\"one_way_64x1mib\",\"transport\":\"%s\",\"p50\":%.2f,\"best\":%.2f,\"unit\":\"GB/s\"}\n",
              what.c_str(), bytes / percentile(seconds, 0.5) / 1e9, bytes / percentile(seconds, 0.0) / 1e9);
  std::fflush(stdout);
}

// OpenSSL alone on a socket that blocks: one end of a pair of processes, each with a SSL_CTX of a TestPki.
class RawTls {
 public:
  RawTls(SSL_CTX* context, int fd, bool accepts) : ssl_(SSL_new(context)) {
    SSL_set_fd(ssl_.get(), fd);
    SSL_set_verify(ssl_.get(), SSL_VERIFY_NONE, nullptr);  // it is the time of records that is measured
    if ((accepts ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) != 1) std::abort();
  }
  void write_all(const char* data, std::size_t size) const {
    while (size > 0) {
      std::size_t n = 0;
      if (SSL_write_ex(ssl_.get(), data, size, &n) != 1) std::abort();
      data += n;
      size -= n;
    }
  }
  void read_all(char* data, std::size_t size) const {
    while (size > 0) {
      std::size_t n = 0;
      if (SSL_read_ex(ssl_.get(), data, size, &n) != 1) return;
      data += n;
      size -= n;
    }
  }

 private:
  net::tls::SslPtr ssl_;
};

class RawSocketEnd {
 public:
  explicit RawSocketEnd(int fd) : fd_(fd) {}
  void write_all(const char* data, std::size_t size) const;
  void read_all(char* data, std::size_t size) const;

 private:
  const int fd_;
};

void RawSocketEnd::write_all(const char* data, std::size_t size) const {
  while (size > 0) {
    const auto n = ::write(fd_, data, size);
    if (n <= 0) std::abort();
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void RawSocketEnd::read_all(char* data, std::size_t size) const {
  while (size > 0) {
    const auto n = ::read(fd_, data, size);
    if (n <= 0) return;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

std::pair<int, int> tcp_pair() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  (void)::bind(listener, reinterpret_cast<sockaddr*>(&address), size);
  (void)::listen(listener, 1);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const int a = ::socket(AF_INET, SOCK_STREAM, 0);
  (void)::connect(a, reinterpret_cast<sockaddr*>(&address), size);
  const int b = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  net::tune_stream(a);
  net::tune_stream(b);
  return {a, b};
}

std::pair<int, int> unix_pair() {
  int fds[2];
  (void)::socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
  return {fds[0], fds[1]};
}

template <typename End>
void serve_raw(const End& end) {
  std::vector<char> block(kBlockBytes);
  for (int i = 0; i < kPings + kWarmups; ++i) {
    end.read_all(block.data(), 64);
    end.write_all(block.data(), 64);
  }
  for (int r = 0; r < kRepetitions; ++r) {
    for (int i = 0; i < kBlocks; ++i) end.read_all(block.data(), kBlockBytes);
    end.write_all(block.data(), 64);
  }
}

// make_end(fd, accepts): an end on the socket.
template <typename MakeEnd>
void bench_raw(const std::string& what, std::pair<int, int> fds, const MakeEnd& make_end) {
  const auto [a, b] = fds;
  if (::fork() == 0) {
    serve_raw(make_end(b, true));
    ::_exit(0);
  }
  const auto end = make_end(a, false);
  std::vector<char> block(kBlockBytes);
  std::vector<double> pings, seconds;
  for (int i = 0; i < kPings + kWarmups; ++i) {
    const auto start = Clock::now();
    end.write_all(block.data(), 64);
    end.read_all(block.data(), 64);
    if (i >= kWarmups) pings.push_back(microseconds(Clock::now() - start));
  }
  for (int r = 0; r < kRepetitions; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < kBlocks; ++i) end.write_all(block.data(), kBlockBytes);
    end.read_all(block.data(), 64);
    seconds.push_back(microseconds(Clock::now() - start) / 1e6);
  }
  ::close(a);
  ::close(b);
  report_latency("raw_" + what, pings);
  report_throughput("raw_" + what, seconds);
}

// Small frames are sent back; of large ones every 64th is answered.
class PeerAcceptor final : public net::Acceptor {
 public:
  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    struct Peer final : proto::ChannelHandler {
      void on_frame(SharedBytes bytes) override {
        if (bytes.size() < 1000) return channel->send({{}, bytes}, proto::Lane::control);
        if (++blocks % kBlocks == 0) channel->send(frame("done"), proto::Lane::control);
      }
      void on_closed(Status) override { over->release(); }
      std::shared_ptr<proto::Channel> channel;
      std::binary_semaphore* over = nullptr;
      int blocks = 0;
    };
    auto peer = std::make_shared<Peer>();
    peer->channel = std::move(channel);
    peer->over = &over;
    return peer;
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel>, const Status&) override {
    return nullptr;
  }
  std::binary_semaphore over{0};
};

// The other process: prints its URL, serves one client.
int serve(Transport transport, const net::tls::ServerFiles& files) {
  PeerAcceptor acceptor;
  net::ListenOptions options;
  if (!files.certificate.empty()) options.tls = *net::tls::ServerTls::open(files);
  const auto listener = *listen(transport, acceptor, options);
  std::printf("%s\n", listener->url().c_str());
  std::fflush(stdout);
  acceptor.over.acquire();
  return 0;
}

std::string start_server(Transport transport, const net::tls::ServerFiles& files) {
  const std::string command = "/proc/" + std::to_string(::getpid()) + "/exe serve " + name(transport) + " " +
                              files.certificate + " " + files.key;
  std::FILE* server = ::popen(command.c_str(), "r");
  std::array<char, 256> line{};
  if (server == nullptr || std::fgets(line.data(), line.size(), server) == nullptr) std::abort();
  const std::string url{line.data()};
  return url.substr(0, url.find('\n'));
}

struct Client final : proto::ChannelHandler {
  void on_frame(SharedBytes) override {
    if (hook)
      hook();
    else
      arrived.release();
  }
  void on_closed(Status) override {}
  std::binary_semaphore arrived{0};
  std::function<void()> hook;
};

// With a `pki` over TLS.
void bench_channel(Transport transport, const TestPki* pki = nullptr) {
  const auto what = name(transport) + (pki ? "_tls" : "");
  const auto client = std::make_shared<Client>();
  const auto url = start_server(transport, pki ? pki->server : net::tls::ServerFiles{});
  const auto channel = *net::connect_channel(url, client, kPatience, pki ? pki->client() : net::tls::ClientFiles{});
  const auto small = frame(std::string(64, 'x'));
  const auto block = frame("head", kBlockBytes);

  std::vector<double> pings;
  for (int i = 0; i < kPings + kWarmups; ++i) {
    const auto start = Clock::now();
    channel->send(small, proto::Lane::control);
    client->arrived.acquire();
    if (i >= kWarmups) pings.push_back(microseconds(Clock::now() - start));
  }
  report_latency(what + "_wait", pings);

  pings.clear();
  auto start = Clock::now();
  client->hook = [&] {
    const auto now = Clock::now();
    pings.push_back(microseconds(now - start));
    start = now;
    if (pings.size() == kPings) return client->arrived.release();
    channel->send(small, proto::Lane::control);
  };
  channel->send(small, proto::Lane::control);
  client->arrived.acquire();
  client->hook = nullptr;
  report_latency(what + "_handler", pings);

  std::vector<double> seconds;
  for (int r = 0; r < kRepetitions; ++r) {
    start = Clock::now();
    for (int i = 0; i < kBlocks; ++i) channel->send(block, proto::Lane::bulk);
    client->arrived.acquire();
    seconds.push_back(microseconds(Clock::now() - start) / 1e6);
  }
  report_throughput(what, seconds);
}

}  // namespace
}  // namespace burn::test

int main(int argc, char** argv) {
  using namespace burn::test;
  constexpr std::array kAll = {Transport::websocket, Transport::grpc, Transport::unix_socket};
  for (const Transport transport : kAll) {
    if (argc < 3 || std::string_view{argv[1]} != "serve" || argv[2] != name(transport)) continue;
    return serve(transport, argc == 5 ? burn::net::tls::ServerFiles{.certificate = argv[3], .key = argv[4]}
                                      : burn::net::tls::ServerFiles{});
  }
  const TestPki pki;
  const std::vector<std::string> only(argv + 1, argv + argc);
  const auto wanted = [&](const std::string& what) {
    return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
  };
  const auto plain = [](int fd, bool) { return RawSocketEnd{fd}; };
  if (wanted("raw_tcp")) bench_raw("tcp", tcp_pair(), plain);
  if (wanted("raw_tls")) {
    const auto server = *burn::net::tls::ServerIdentity::read(pki.server);
    const auto own = *burn::net::tls::ClientIdentity::read(pki.client());
    bench_raw("tls", tcp_pair(), [&](int fd, bool accepts) {
      return RawTls{accepts ? server->context() : own->context(), fd, accepts};
    });
  }
  if (wanted("websocket")) bench_channel(Transport::websocket);
  if (wanted("websocket_tls")) bench_channel(Transport::websocket, &pki);
  if (wanted("grpc")) bench_channel(Transport::grpc);
  if (wanted("grpc_tls")) bench_channel(Transport::grpc, &pki);
  if (wanted("raw_unix")) bench_raw("unix", unix_pair(), plain);
  if (wanted("unix")) bench_channel(Transport::unix_socket);
}
