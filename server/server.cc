#include "server/server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "backends/apart.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/thread.h"
#include "net/listen/process_limits.h"
#include "net/listen/listener.h"
#include "net/serve/connection.h"
#include "server/gate.h"
#include "server/log.h"
#include "server/worker_host.h"

namespace burn::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kFarewell = seconds{1};  // for a client to take its Close

}  // namespace

class Server::Impl final : public net::Acceptor {
 public:
  explicit Impl(const ServerOptions& options)
      : options_(options),
        gate_(std::make_shared<Gate>(options.token_file,
                                     net::with_room_for_operators(options.sessions, options.sessions_per_peer))),
        host_(std::make_shared<WorkerHost>(open(options), quotas(options), seconds{options.session_lease}, gate_)) {
    throw_if_error(gate_->tokens().reload());
    reaper_ = start_thread("burn-reaper", [this] { reap(); });
    try {
      doorkeeper_ = start_thread("burn-door", [this] { keep_door(); });
      listen();
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Impl() override { stop(); }

  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    return accept_returning(std::move(channel), {});
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel> channel,
                                                          const Status& full) override {
    const auto on_end = [this](auto ended) {
      const std::lock_guard lock{mutex_};
      open_.erase(ended);
      ended_.push_back(std::move(ended));
      changed_.notify_all();
    };
    auto connection = std::make_shared<net::Connection>(std::move(channel), host_, on_end, full);
    const std::lock_guard lock{mutex_};
    if (stopping_) return nullptr;
    open_.insert(connection);
    return connection;
  }

  // In the child of a fork() there are no threads to serve anybody, or to be waited for.
  bool is_of_parent() const { return forks_ != fork_count(); }
  const std::vector<std::string>& urls() const { return urls_; }
  Gate& gate() { return *gate_; }
  backends::MemoryStats memory() const {
    backends::MemoryStats all;
    for (const auto& worker : host_->workers()) {
      const auto memory = worker->backend().memory();
      all.in_use += memory.in_use;
      all.reserved += memory.reserved;
    }
    return all;
  }
  SessionCounts session_counts() const {
    const auto leases = host_->leases().counts();
    SessionCounts counts{.resumes = leases.resumes, .duplicates = leases.duplicates, .lost = leases.lost};
    for (const auto& worker : host_->workers()) counts.runs += worker->stats().runs;
    counts.runs_left_behind = backends::LeftBehind::count_in_process();
    return counts;
  }
  std::size_t connections() const {
    const std::lock_guard lock{mutex_};
    return open_.size() + ended_.size() + disposing_;
  }

  void stop() {
    const std::lock_guard only_one{stop_mutex_};
    if (!reaper_.joinable()) return;
    for (const auto& listener : listeners_) listener->stop_accepting();
    std::unique_lock lock{mutex_};
    stopping_ = true;
    const std::vector<std::shared_ptr<net::Connection>> clients{open_.begin(), open_.end()};
    lock.unlock();
    drain(clients);
    for (const auto& client : clients) client->end(unavailable("the server is shutting down"));
    lock.lock();
    changed_.wait_for(lock, kFarewell, [&] { return open_.empty(); });
    lock.unlock();
    listeners_.clear();  // ends the connections that are left
    end_sessions(host_->leases().take_all(), "the server is shutting down");
    lock.lock();
    finished_ = true;
    lock.unlock();
    changed_.notify_all();
    reaper_.join();
    if (doorkeeper_.joinable()) doorkeeper_.join();
  }

 private:
  static std::vector<std::shared_ptr<session::Worker>> open(const ServerOptions& options) {
    std::vector<std::shared_ptr<session::Worker>> workers;
    session::PlanCapacity plans;
    if (options.plan_cache) plans.bytes = static_cast<std::size_t>(*options.plan_cache);
    for (const auto& device : value_or_throw(backends::parse_devices(options.device))) {
      workers.push_back(session::Worker::create(value_or_throw(backends::open_backend(device)),
                                                {.bytes = options.idle_memory}, plans));
    }
    return workers;
  }

  static session::Quotas quotas(const ServerOptions& options) {
    return {.tensor_bytes = options.session_bytes, .programs = options.programs, .run_timeout = options.run_timeout};
  }

  // Connections of all listeners: some more than sessions, for those who are not in yet or are on their way out, but
  // not more than there are descriptors for. gRPC's take two each, and have permits of their own at both of its
  // sockets.
  net::PermitLimits connection_limits() const {
    constexpr std::size_t kKept = 64;  // for plug-ins, caches, and what devices open
    const std::size_t each = 1 + (options_.grpc.empty() ? 0 : 2) + (options_.grpc_unix_path.empty() ? 0 : 2);
    const auto free = net::free_descriptors();
    const std::size_t fit = std::max<std::size_t>((free > kKept ? free - kKept : 0) / each, 4);
    const std::size_t wanted =
        options_.max_connections > 0 ? options_.max_connections : options_.sessions + options_.sessions / 4 + 16;
    if (wanted > fit) {
      log_info(fmt::format("connections are limited to {}, not {}: there are descriptors for no more (ulimit -n)", fit,
                           wanted));
    }
    const auto all = std::min(wanted, fit);
    // Where one peer may not have all sessions, it may not have all connections either.
    const bool are_shared = options_.sessions_per_peer < options_.sessions;
    const auto most = are_shared ? std::max<std::size_t>(all * 3 / 4, 1) : all;
    return net::with_room_for_operators(all, std::min(options_.sessions_per_peer + 16, most));
  }

  void listen() {
    const net::ListenOptions options{
        .permits = std::make_shared<net::PermitPool>("connections", connection_limits()),
        .loopback_only = !options_.insecure && !gate_->tokens().are_asked_for(),
        .origins = options_.allow_origins,
    };
    const auto add = [&](const std::string& address, auto listen_on) {
      if (address.empty()) return;
      listeners_.push_back(value_or_throw(listen_on(address, *this, options)));
      urls_.push_back(listeners_.back()->url());
    };
    add(options_.ws, net::listen_websocket);
    add(options_.grpc, net::listen_grpc);
    add(options_.unix_path, net::listen_unix);
    add(options_.grpc_unix_path, net::listen_grpc_unix);
    if (listeners_.empty()) throw Error{StatusCode::invalid_argument, "the server has no address to listen on"};
  }

  void drain(const std::vector<std::shared_ptr<net::Connection>>& clients) const {
    const auto deadline = Clock::now() + seconds{options_.drain_seconds};
    for (const auto& client : clients) client->drain();
    for (const auto& client : clients) {
      while (!client->is_idle() && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds{2});
    }
  }

  // The thread that waits for what others must not wait for: the end of sessions.
  void reap() {
    std::unique_lock lock{mutex_};
    while (!finished_ || !ended_.empty() || !expired_.empty()) {
      changed_.wait(lock, [&] { return finished_ || !ended_.empty() || !expired_.empty(); });
      while (!ended_.empty()) {
        auto connection = std::move(ended_.front());
        ended_.pop_front();
        ++disposing_;
        lock.unlock();
        connection->dispose();
        connection = nullptr;
        lock.lock();
        --disposing_;
      }
      const auto expired = std::exchange(expired_, {});
      lock.unlock();
      end_sessions(expired, "its client has not come back");
      lock.lock();
    }
  }

  // Shows the door to whoever does not introduce himself, and finds sessions whose lease is over. Not a part of the
  // above, which a session may keep waiting.
  void keep_door() {
    std::unique_lock lock{mutex_};
    while (!finished_) {
      try {
        const auto strangers = find_strangers();
        lock.unlock();
        for (const auto& stranger : strangers) stranger->end({StatusCode::deadline_exceeded, "there was no hello"});
        host_->log_left_out();
        auto expired = host_->leases().take_expired();
        report_left_behind();
        lock.lock();
        std::ranges::move(expired, std::back_inserter(expired_));
        if (!expired_.empty()) changed_.notify_all();
      } catch (const std::exception&) {  // no memory: in a second again
      }
      if (!lock) lock.lock();
      // Nobody's time is over sooner than this after there was nobody.
      const bool is_quiet = open_.empty() && host_->leases().counts().lost == 0;
      const auto period = is_quiet ? seconds{std::max(options_.hello_seconds, 1)} : seconds{1};
      changed_.wait_for(lock, period, [&] { return finished_; });
    }
  }

  // Logs when the number of runs changes that ended for their clients and still compute.
  void report_left_behind() {
    using backends::LeftBehind;
    const auto now = LeftBehind::count_in_process(), total = LeftBehind::total_in_process();
    if (now == left_behind_ && total == left_behind_so_far_) return;
    left_behind_ = now;
    left_behind_so_far_ = total;
    log_warning(fmt::format(
        "{} runs that could not be stopped at their end still compute ({} so far); with {} of them no further long "
        "factorisation or convolution is begun",
        now, total, LeftBehind::kMost));
  }

  void end_sessions(const std::vector<std::shared_ptr<net::ServedConversation>>& sessions, std::string_view why) const {
    for (const auto& session : sessions) {
      host_->log(net::Severity::info, net::describe_end(*session, why));
      session->dispose();
    }
  }

  // Requires: mutex_ is held.
  std::vector<std::shared_ptr<net::Connection>> find_strangers() const {
    std::vector<std::shared_ptr<net::Connection>> strangers;
    const auto latest = Clock::now() - seconds{options_.hello_seconds};
    for (const auto& connection : open_) {
      if (!connection->is_welcome() && connection->since() < latest) strangers.push_back(connection);
    }
    return strangers;
  }

  const std::uint32_t forks_ = (watch_forks(), fork_count());
  const ServerOptions options_;
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<WorkerHost> host_;
  std::vector<std::string> urls_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::shared_ptr<net::Connection>> open_;
  std::deque<std::shared_ptr<net::Connection>> ended_;             // to be disposed of
  std::vector<std::shared_ptr<net::ServedConversation>> expired_;  // likewise
  std::size_t disposing_ = 0;
  std::uint64_t left_behind_ = 0, left_behind_so_far_ = 0;  // of the doorkeeper: as last reported
  bool stopping_ = false, finished_ = false;

  std::mutex stop_mutex_;
  std::thread reaper_, doorkeeper_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

Server::Server(const ServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Server::~Server() {
  // In a forked child its threads are not there to be joined, nor its connections ours to close: it stays as it is.
  if (impl_->is_of_parent()) (void)impl_.release();
}
std::string Server::url() const { return impl_->urls().front(); }
const std::vector<std::string>& Server::urls() const { return impl_->urls(); }
std::size_t Server::connections() const { return impl_->connections(); }
Server::SessionCounts Server::session_counts() const { return impl_->session_counts(); }
std::size_t Server::sessions() const { return impl_->gate().sessions(); }
Status Server::reload_tokens() { return impl_->gate().tokens().reload(); }
std::uint64_t Server::memory_in_use() const { return impl_->memory().in_use; }
std::uint64_t Server::memory_idle() const {
  const auto memory = impl_->memory();
  return memory.reserved - memory.in_use;
}
void Server::stop() {
  if (!impl_->is_of_parent()) impl_->stop();
}

}  // namespace burn::server
