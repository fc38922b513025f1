#include "net/listen/unauthenticated_calls.h"

#include <utility>

namespace burn::net {

UnauthenticatedCalls::Registration UnauthenticatedCalls::add(std::weak_ptr<UnauthenticatedCall> call,
                                                             Clock::time_point until) {
  struct Removal {
    ~Removal() {
      if (of) of->remove(entry);
    }
    UnauthenticatedCalls* of = nullptr;
    std::list<Entry>::iterator entry{};
  };
  auto registration = std::make_shared<Removal>();
  const std::lock_guard lock{mutex_};
  registration->entry = all_.insert(all_.end(), Entry{std::move(call), until});
  registration->of = this;
  return registration;
}

void UnauthenticatedCalls::remove(std::list<Entry>::iterator entry) {
  const std::lock_guard lock{mutex_};
  all_.erase(entry);
}

// Returns owners, to be used outside the lock: refusing a call or releasing its owner may end it, which takes the lock.
std::vector<std::shared_ptr<UnauthenticatedCall>> UnauthenticatedCalls::with_time_until(Clock::time_point latest) {
  std::vector<std::shared_ptr<UnauthenticatedCall>> found;
  const std::lock_guard lock{mutex_};
  found.reserve(all_.size());
  for (const auto& entry : all_) {
    if (entry.until > latest) continue;
    if (auto call = entry.call.lock()) found.push_back(std::move(call));
  }
  return found;
}

void UnauthenticatedCalls::refuse(const std::string& peer, const Status& why) {
  for (const auto& call : with_time_until(Clock::time_point::max())) {
    if (call->peer() == peer) call->refuse(why);
  }
}

void UnauthenticatedCalls::tick() {
  const Status why{StatusCode::deadline_exceeded, "the request has not come"};
  for (const auto& call : with_time_until(Clock::now())) call->refuse(why);
}

}  // namespace burn::net
