#include "tests/support/proxy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <list>
#include <random>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace burn::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxWaiting = std::size_t{4} << 20;  // bytes queued per direction before reading pauses

sockaddr_in ipv4(const std::string& address) {
  const auto colon = address.find(':');
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  BURN_CHECK(::inet_pton(AF_INET, address.substr(0, colon).c_str(), &where.sin_addr) == 1, "not an IPv4 address");
  return where;
}

struct Piece {
  Clock::time_point due;
  std::vector<char> bytes;
  std::size_t written = 0;
};

// One direction.
struct Flow {
  int from = -1, to = -1;
  std::deque<Piece> pieces;
  std::size_t waiting = 0;
  bool ended = false;  // the source has closed its end

  bool is_due(Clock::time_point now) const { return !pieces.empty() && pieces.front().due <= now; }
};

struct Link {
  std::array<Flow, 2> flows;              // to the server, and from it
  Clock::time_point heard;                // when either end last sent something
  bool holding = false;                   // bytes from the server
  std::uint64_t bytes_left = UINT64_MAX;  // until the link is cut
  bool stalled = false;
  bool over = false;
};

}  // namespace

class Proxy::Loop {
 public:
  Loop(Proxy& proxy, const std::string& target) : proxy_(proxy), target_(ipv4(target)) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in any = ipv4("127.0.0.1:0");
    socklen_t size = sizeof any;
    BURN_CHECK(::bind(listening_, reinterpret_cast<sockaddr*>(&any), size) == 0 && ::listen(listening_, 128) == 0 &&
                   ::getsockname(listening_, reinterpret_cast<sockaddr*>(&any), &size) == 0,
               "the proxy cannot listen");
    port_ = ntohs(any.sin_port);
  }
  ~Loop() {
    while (!links_.empty()) end(links_.begin(), true);
    ::close(listening_);
  }

  std::uint16_t port() const { return port_; }

  void run() {
    while (!proxy_.finished_) {
      if (const auto wanted = proxy_.cut_all_.load(); proxy_.cut_all_applied_ != wanted) {
        for (; !links_.empty(); ++proxy_.cuts_) end(links_.begin(), true);
        applied(proxy_.cut_all_applied_, wanted);
      }
      if (const auto wanted = proxy_.stall_current_.load(); proxy_.stall_current_applied_ != wanted) {
        for (auto& link : links_) link.stalled = true;
        applied(proxy_.stall_current_applied_, wanted);
      }
      wait();
      accept();
      for (auto link = links_.begin(); link != links_.end();) {
        if (!proxy_.stalled_ && !link->stalled) forward(*link);
        link = link->over ? end(link, false) : std::next(link);
      }
    }
  }

 private:
  using Links = std::list<Link>;

  static void applied(Count& count, std::uint32_t wanted) {
    count = wanted;
    count.notify_all();
  }

  void wait() {
    std::vector<pollfd> waiting{{listening_, POLLIN, 0}};
    const auto now = Clock::now();
    int patience = 20;  // ms, after which the options are read again
    for (const auto& link : links_) {
      if (proxy_.stalled_ || link.stalled) continue;
      for (const auto& flow : link.flows) {
        if (!flow.ended && flow.waiting < kMaxWaiting) waiting.push_back({flow.from, POLLIN, 0});
        if (flow.is_due(now)) {
          waiting.push_back({flow.to, POLLOUT, 0});
        } else if (!flow.pieces.empty()) {
          const auto until = std::chrono::ceil<std::chrono::milliseconds>(flow.pieces.front().due - now).count();
          patience = std::clamp(static_cast<int>(std::min<std::int64_t>(until, patience)), 0, patience);
        }
      }
    }
    ::poll(waiting.data(), waiting.size(), patience);
  }

  void accept() {
    const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) return;
    ++proxy_.connections_;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (proxy_.refusing_ || ::connect(server, reinterpret_cast<const sockaddr*>(&target_), sizeof target_) != 0) {
      ::close(client);
      ::close(server);
      return;
    }
    const int on = 1;
    for (const int fd : {client, server}) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto& link = links_.emplace_back();
    link.flows[0].from = link.flows[1].to = client;
    link.flows[1].from = link.flows[0].to = server;
    if (seed_ != proxy_.seed_) random_.seed(seed_ = proxy_.seed_);
    if (const auto mean = proxy_.mean_.load(); mean > 0 && proxy_.cuts_left_ > 0) {
      link.bytes_left = std::uniform_int_distribution<std::uint64_t>{0, 2 * mean}(random_);
    }
  }

  void forward(Link& link) {
    for (auto& flow : link.flows) read(link, flow);
    hold(link);
    for (auto& flow : link.flows) write(link, flow);
    const auto is_done = [](const Flow& flow) { return flow.ended && flow.pieces.empty(); };
    link.over |= is_done(link.flows[0]) || is_done(link.flows[1]);
  }

  void hold(Link& link) {
    const std::chrono::milliseconds silence{proxy_.silence_ms_};
    auto& pieces = link.flows[1].pieces;
    if (silence.count() == 0 || pieces.empty()) return;
    const auto now = Clock::now();
    const bool is_time = now - link.heard >= silence;
    if (is_time && link.holding) ++proxy_.waits_;
    link.holding = !is_time;
    for (auto& piece : pieces) piece.due = is_time ? now : link.heard + silence;
  }

  void read(Link& link, Flow& flow) {
    if (flow.ended || flow.waiting >= kMaxWaiting) return;
    std::vector<char> bytes(std::size_t{64} << 10);
    const auto got = ::recv(flow.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes.resize(static_cast<std::size_t>(got));
      link.heard = Clock::now();
      flow.waiting += bytes.size();
      flow.pieces.push_back({Clock::now() + std::chrono::milliseconds{proxy_.delay_ms_}, std::move(bytes)});
    } else if (got == 0) {
      flow.ended = true;
    } else if (errno != EAGAIN && errno != EINTR) {
      link.over = true;
    }
  }

  void write(Link& link, Flow& flow) {
    while (!link.over && flow.is_due(Clock::now())) {
      auto& [due, bytes, written] = flow.pieces.front();
      const auto size = std::min<std::uint64_t>(bytes.size() - written, link.bytes_left);
      const auto put = ::send(flow.to, bytes.data() + written, size, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put < 0) {
        if (errno != EAGAIN && errno != EINTR) link.over = true;
        return;
      }
      written += static_cast<std::size_t>(put);
      proxy_.bytes_ += static_cast<std::uint64_t>(put);
      flow.waiting -= static_cast<std::size_t>(put);
      if (link.bytes_left != UINT64_MAX) link.bytes_left -= static_cast<std::uint64_t>(put);
      if (link.bytes_left == 0) {
        link.over = true;
        ++proxy_.cuts_;
        if (--proxy_.cuts_left_ == 0) {
          for (auto& other : links_) other.bytes_left = other.over ? 0 : UINT64_MAX;
        }
        return;
      }
      if (written == bytes.size()) flow.pieces.pop_front();
    }
  }

  Links::iterator end(Links::iterator link, bool abruptly) {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    for (const auto& flow : link->flows) {
      if (abruptly) ::setsockopt(flow.from, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      ::close(flow.from);
    }
    return links_.erase(link);
  }

  Proxy& proxy_;
  const sockaddr_in target_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  Links links_;
  std::uint32_t seed_ = 0;
  std::minstd_rand random_;
};

Proxy::Proxy(const std::string& target)
    : loop_(std::make_unique<Loop>(*this, target)), thread_([this] { loop_->run(); }) {}

Proxy::~Proxy() {
  finished_ = true;
  thread_.join();
}

std::string Proxy::address() const { return "127.0.0.1:" + std::to_string(loop_->port()); }

void Proxy::apply(Count& wanted, const Count& applied) {
  const auto mine = ++wanted;
  for (auto done = applied.load(); done < mine; done = applied.load()) applied.wait(done);
}

void Proxy::cut_randomly(std::uint64_t mean, std::uint64_t cuts, std::uint32_t seed) {
  mean_ = mean;
  cuts_left_ = cuts;
  seed_ = seed;
  cut();  // current connections have no limit of bytes
}

}  // namespace burn::test
