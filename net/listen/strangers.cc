#include "net/listen/strangers.h"

#include <utility>

namespace burn::net {

Strangers::Stay Strangers::add(std::weak_ptr<Stranger> stranger, Clock::time_point until) {
  struct Registration {
    ~Registration() {
      if (of) of->remove(entry);
    }
    Strangers* of = nullptr;
    std::list<Entry>::iterator entry{};
  };
  auto registration = std::make_shared<Registration>();
  const std::lock_guard lock{mutex_};
  registration->entry = all_.insert(all_.end(), Entry{std::move(stranger), until});
  registration->of = this;
  return registration;
}

void Strangers::remove(std::list<Entry>::iterator entry) {
  const std::lock_guard lock{mutex_};
  all_.erase(entry);
}

// What is done to them, and even to let go of them, may be their end, which wants the lock.
std::vector<std::shared_ptr<Stranger>> Strangers::with_time_until(Clock::time_point latest) {
  std::vector<std::shared_ptr<Stranger>> found;
  const std::lock_guard lock{mutex_};
  found.reserve(all_.size());
  for (const auto& entry : all_) {
    if (entry.until > latest) continue;
    if (auto stranger = entry.stranger.lock()) found.push_back(std::move(stranger));
  }
  return found;
}

void Strangers::turn_away(const std::string& peer, const Status& why) {
  for (const auto& stranger : with_time_until(Clock::time_point::max())) {
    if (stranger->peer() == peer) stranger->turn_away(why);
  }
}

void Strangers::tick() {
  const Status why{StatusCode::deadline_exceeded, "the request has not come"};
  for (const auto& stranger : with_time_until(Clock::now())) stranger->turn_away(why);
}

}  // namespace burn::net
