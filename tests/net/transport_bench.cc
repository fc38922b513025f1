// Measures the transports against raw sockets of the same kind, between two processes: 64-byte ping-pong and 64 x 1 MiB
// one way.
//   build/bin/transport_bench [raw_tcp] [websocket] [grpc] [raw_unix] [unix]
// One JSON object a line. "wait": the caller's thread sleeps until the answer is there, as a blocking read does;
// "handler": the answer is sent back from the transport's thread.
#include <algorithm>
#include <array>
#include <cstdio>
#include <semaphore>
#include <thread>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/transport/socket.h"
#include "tests/net/support.h"

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

void write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const auto n = ::write(fd, data, size);
    if (n <= 0) std::abort();
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void read_all(int fd, char* data, std::size_t size) {
  while (size > 0) {
    const auto n = ::read(fd, data, size);
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

void serve_raw(int fd) {
  std::vector<char> block(kBlockBytes);
  for (int i = 0; i < kPings + kWarmups; ++i) {
    read_all(fd, block.data(), 64);
    write_all(fd, block.data(), 64);
  }
  for (int r = 0; r < kRepetitions; ++r) {
    for (int i = 0; i < kBlocks; ++i) read_all(fd, block.data(), kBlockBytes);
    write_all(fd, block.data(), 64);
  }
}

void bench_raw(const std::string& what, std::pair<int, int> fds) {
  const auto [a, b] = fds;
  if (::fork() == 0) {
    serve_raw(b);
    ::_exit(0);
  }
  std::vector<char> block(kBlockBytes);
  std::vector<double> pings, seconds;
  for (int i = 0; i < kPings + kWarmups; ++i) {
    const auto start = Clock::now();
    write_all(a, block.data(), 64);
    read_all(a, block.data(), 64);
    if (i >= kWarmups) pings.push_back(microseconds(Clock::now() - start));
  }
  for (int r = 0; r < kRepetitions; ++r) {
    const auto start = Clock::now();
    for (int i = 0; i < kBlocks; ++i) write_all(a, block.data(), kBlockBytes);
    read_all(a, block.data(), 64);
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
int serve(Transport transport) {
  PeerAcceptor acceptor;
  const auto listener = *listen(transport, acceptor);
  std::printf("%s\n", listener->url().c_str());
  std::fflush(stdout);
  acceptor.over.acquire();
  return 0;
}

std::string start_server(Transport transport) {
  const std::string command = "/proc/" + std::to_string(::getpid()) + "/exe serve " + name(transport);
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

void bench_channel(Transport transport) {
  const auto client = std::make_shared<Client>();
  const auto channel = must_connect(start_server(transport), client);
  const auto small = frame(std::string(64, 'x'));
  const auto block = frame("head", kBlockBytes);

  std::vector<double> pings;
  for (int i = 0; i < kPings + kWarmups; ++i) {
    const auto start = Clock::now();
    channel->send(small, proto::Lane::control);
    client->arrived.acquire();
    if (i >= kWarmups) pings.push_back(microseconds(Clock::now() - start));
  }
  report_latency(name(transport) + "_wait", pings);

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
  report_latency(name(transport) + "_handler", pings);

  std::vector<double> seconds;
  for (int r = 0; r < kRepetitions; ++r) {
    start = Clock::now();
    for (int i = 0; i < kBlocks; ++i) channel->send(block, proto::Lane::bulk);
    client->arrived.acquire();
    seconds.push_back(microseconds(Clock::now() - start) / 1e6);
  }
  report_throughput(name(transport), seconds);
}

}  // namespace
}  // namespace burn::test

int main(int argc, char** argv) {
  using namespace burn::test;
  constexpr std::array kAll = {Transport::websocket, Transport::grpc, Transport::unix_socket};
  for (const Transport transport : kAll) {
    if (argc == 3 && std::string_view{argv[1]} == "serve" && argv[2] == name(transport)) return serve(transport);
  }
  const std::vector<std::string> only(argv + 1, argv + argc);
  const auto wanted = [&](const std::string& what) {
    return only.empty() || std::find(only.begin(), only.end(), what) != only.end();
  };
  if (wanted("raw_tcp")) bench_raw("tcp", tcp_pair());
  if (wanted("websocket")) bench_channel(Transport::websocket);
  if (wanted("grpc")) bench_channel(Transport::grpc);
  if (wanted("raw_unix")) bench_raw("unix", unix_pair());
  if (wanted("unix")) bench_channel(Transport::unix_socket);
}
