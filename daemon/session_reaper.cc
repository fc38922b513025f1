#include "daemon/session_reaper.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/thread.h"

namespace burn::daemon {

SessionReaper::SessionReaper(std::shared_ptr<net::SessionHost> host)
    : host_(std::move(host)), thread_(start_thread("burn-reaper", [this] { run(); })) {}

SessionReaper::~SessionReaper() { stop(); }

void SessionReaper::add(std::shared_ptr<net::Connection> ended) {
  const std::lock_guard lock{mutex_};
  ended_.push_back(std::move(ended));
  changed_.notify_all();
}

void SessionReaper::add_expired(Conversations sessions) {
  if (sessions.empty()) return;
  const std::lock_guard lock{mutex_};
  std::ranges::move(sessions, std::back_inserter(expired_));
  changed_.notify_all();
}

std::size_t SessionReaper::connections() const {
  const std::lock_guard lock{mutex_};
  return ended_.size() + disposing_;
}

void SessionReaper::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SessionReaper::dispose(const Conversations& sessions, net::SessionEnd how, std::string_view why,
                            net::SessionHost& host) {
  for (const auto& session : sessions) {
    host.count_closed(how);
    host.log(net::Severity::info, net::describe_end(*session, why));
    net::audit_end(host, *session, why);
    session->dispose();
  }
}

void SessionReaper::run() {
  std::unique_lock lock{mutex_};
  while (!is_stopping_ || !ended_.empty() || !expired_.empty()) {
    changed_.wait(lock, [&] { return is_stopping_ || !ended_.empty() || !expired_.empty(); });
    while (!ended_.empty()) {
      auto connection = std::move(ended_.front());
      ended_.pop_front();
      ++disposing_;
      lock.unlock();
      connection->dispose();
      connection = nullptr;  // destroyed outside the lock, as this may be the last reference
      lock.lock();
      --disposing_;
    }
    auto expired = std::exchange(expired_, {});
    lock.unlock();
    dispose(expired, net::SessionEnd::lease, "its client has not come back", *host_);
    expired.clear();
    lock.lock();
  }
}

}  // namespace burn::daemon
