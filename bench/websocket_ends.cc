// Measures both ends of a WebSocket channel, without sessions: bulk frames in both directions, round trips and bursts,
// and their processor time in both processes. Linked with our framing, and with alternatives to it
// (scripts/bench-websocket, ADR 026).
//
// usage: burn-bench-websocket [ROUNDS]   (starts itself as its server: serve)
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "net/dial/connect.h"
#include "net/listen/listener.h"

namespace burn::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kBulk = std::size_t{256} << 20;  // bytes of payload one way
constexpr std::size_t kTagBytes = 8;                   // "put.....", "get.....", "end.....", "ping....", "cpu....."
constexpr int kPings = 4000, kBursts = 200, kBurst = 100;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Processor time of this process so far, over all threads, user and kernel.
double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

proto::EncodedFrame tagged(std::string_view tag, SharedBytes payload = {}) {
  std::string header{tag};
  header.resize(kTagBytes, '.');
  return {std::move(header), std::move(payload)};
}

SharedBytes number(double value) { return SharedBytes::own(std::vector<double>{value}); }

double number_in(const SharedBytes& frame) {
  double value = 0;
  if (frame.size() == kTagBytes + sizeof value) std::memcpy(&value, frame.data() + kTagBytes, sizeof value);
  return value;
}

// A handler that receives payloads in their final memory, as sessions do, and counts them.
struct End : proto::ChannelHandler {
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override {
    if (std::memcmp(head.data(), "put", 3) != 0 || size > proto::kMaxFrameBytes) return {};
    return {kTagBytes, block, std::span(*block).first(size - kTagBytes)};
  }
  void on_frame_in_place(SharedBytes, SharedBytes rest) override { on_bulk(rest.size()); }
  void on_frame(SharedBytes frame) override {
    if (frame.size() >= 3 && std::memcmp(frame.data(), "put", 3) == 0) return on_bulk(frame.size() - kTagBytes);
    on_small(frame);
  }
  void on_bulk(std::size_t bytes) {
    received += bytes;
    if (received < kBulk) return;
    received = 0;
    on_all();
  }
  virtual void on_small(const SharedBytes& frame) = 0;
  virtual void on_all() = 0;

  const std::shared_ptr<std::vector<std::byte>> block =
      std::make_shared<std::vector<std::byte>>(proto::kMaxFrameBytes, std::byte{1});
  std::size_t received = 0;
};

void send_bulk(proto::Channel& channel, const std::shared_ptr<std::vector<std::byte>>& block, std::size_t frame) {
  const SharedBytes payload{block, std::span(*block).first(frame)};
  for (std::size_t sent = 0; sent < kBulk; sent += frame) channel.send(tagged("put", payload), proto::Lane::bulk);
}

// --- the server ------------------------------------------------------------------------------------------------------

struct Served final : End {
  void on_small(const SharedBytes& frame) override {
    if (std::memcmp(frame.data(), "get", 3) == 0) {
      return send_bulk(*channel, block, static_cast<std::size_t>(number_in(frame)));
    }
    if (std::memcmp(frame.data(), "cpu", 3) == 0) {
      return channel->send(tagged("cpu", number(cpu_seconds())), proto::Lane::control);
    }
    channel->send({{}, frame}, proto::Lane::control);
  }
  void on_all() override { channel->send(tagged("end"), proto::Lane::control); }
  void on_closed(Status) override { over->release(); }

  std::shared_ptr<proto::Channel> channel;
  std::binary_semaphore* over = nullptr;
};

struct OneClient final : net::Acceptor {
  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    auto served = std::make_shared<Served>();
    served->channel = std::move(channel);
    served->over = &over;
    return served;
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel>, const Status&) override {
    return nullptr;
  }
  std::binary_semaphore over{0};
};

int serve() {
  OneClient acceptor;
  const auto listener = net::listen_websocket("127.0.0.1:0", acceptor);
  if (!listener.ok()) return 1;
  std::printf("%s\n", (*listener)->url().c_str());
  std::fflush(stdout);
  acceptor.over.acquire();
  return 0;
}

// --- the client ------------------------------------------------------------------------------------------------------

struct Client final : End {
  void on_small(const SharedBytes& frame) override {
    last = frame;
    if (--awaited == 0) arrived.release();
  }
  void on_all() override { arrived.release(); }
  void on_closed(Status why) override {
    if (!is_over) std::fprintf(stderr, "the server is gone: %s\n", why.to_string().c_str());
    if (!is_over) std::_Exit(1);
  }

  SharedBytes last;
  int awaited = 1;
  bool is_over = false;
  std::binary_semaphore arrived{0};
};

class Bench {
 public:
  explicit Bench(const std::string& url) {
    auto channel = net::connect_channel(url, client_, std::chrono::seconds{10});
    if (!channel.ok()) std::fprintf(stderr, "%s\n", channel.status().to_string().c_str());
    if (!channel.ok()) std::_Exit(1);
    channel_ = *std::move(channel);
  }
  ~Bench() { client_->is_over = true; }

  void bulk(const std::string& name, std::size_t frame, bool up) {
    const double here = cpu_seconds(), there = server_cpu();
    const auto start = Clock::now();
    if (up) {
      client_->awaited = 1;
      send_bulk(*channel_, client_->block, frame);
    } else {
      channel_->send(tagged("get", number(double(frame))), proto::Lane::control);
    }
    client_->arrived.acquire();
    const double seconds = seconds_since(start), cpu = cpu_seconds() - here, server = server_cpu() - there;
    row(name, "GB/s", double(kBulk) / seconds / 1e9);
    row(name + "_client_cpu", "s/GB", cpu * 1e9 / double(kBulk));
    row(name + "_server_cpu", "s/GB", server * 1e9 / double(kBulk));
  }

  void pings() {
    const auto payload = SharedBytes::own(std::vector<std::uint8_t>(64 - kTagBytes));
    std::vector<double> us;
    for (int i = 0; i < kPings; ++i) {
      const auto start = Clock::now();
      ask(tagged("ping", payload));
      us.push_back(seconds_since(start) * 1e6);
    }
    std::sort(us.begin(), us.end());
    row("ping_64b_p10", "us", us[us.size() / 10]);
    row("ping_64b_p50", "us", us[us.size() / 2]);
    row("ping_64b_p99", "us", us[us.size() * 99 / 100]);
  }

  // Sends bursts of small frames, each of which is answered.
  void bursts() {
    const auto payload = SharedBytes::own(std::vector<std::uint8_t>(200));
    const double here = cpu_seconds(), there = server_cpu();
    const auto start = Clock::now();
    for (int i = 0; i < kBursts; ++i) {
      client_->awaited = kBurst;
      channel_->begin_burst();
      for (int k = 0; k < kBurst; ++k) channel_->send(tagged("ping", payload), proto::Lane::control);
      channel_->end_burst();
      client_->arrived.acquire();
    }
    const double frames = double(kBursts) * kBurst;
    row("burst_100x208b", "us/frame", seconds_since(start) * 1e6 / frames);
    row("burst_100x208b_both_cpu", "us/frame", (cpu_seconds() - here + server_cpu() - there) * 1e6 / frames);
  }

 private:
  void ask(proto::EncodedFrame frame) {
    client_->awaited = 1;
    channel_->send(std::move(frame), proto::Lane::control);
    client_->arrived.acquire();
  }
  double server_cpu() {
    ask(tagged("cpu"));
    return number_in(client_->last);
  }
  static void row(const std::string& name, const char* unit, double value) {
    std::printf("%s\t%s\t%.4g\n", name.c_str(), unit, value);
    std::fflush(stdout);
  }

  const std::shared_ptr<Client> client_ = std::make_shared<Client>();
  std::shared_ptr<proto::Channel> channel_;
};

int measure(int rounds) {
  const std::string command = "/proc/" + std::to_string(::getpid()) + "/exe serve";
  std::FILE* const server = ::popen(command.c_str(), "r");
  std::array<char, 256> line{};
  if (server == nullptr || std::fgets(line.data(), line.size(), server) == nullptr) return 1;
  const std::string_view url{line.data()};
  {
    Bench bench{std::string{url.substr(0, url.find('\n'))}};
    for (int i = 0; i < rounds; ++i) {
      for (const bool up : {true, false}) {
        const std::string name = up ? "upload_" : "download_";
        bench.bulk(name + "64kib", std::size_t{64} << 10, up);
        bench.bulk(name + "1mib", std::size_t{1} << 20, up);
        bench.bulk(name + "32mib", std::size_t{32} << 20, up);
      }
      bench.pings();
      bench.bursts();
    }
  }
  return ::pclose(server) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace burn::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view{argv[1]} == "serve") return burn::bench::serve();
  return burn::bench::measure(argc == 2 ? std::max(std::atoi(argv[1]), 1) : 1);
}
