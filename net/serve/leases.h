// Sessions that may outlive their connections, by name. They include connected ones, as a client may notice the loss of
// a connection before the server does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "net/serve/served_conversation.h"

namespace burn::net {

// Errors: UNAVAILABLE when the system has no random numbers.
Status fill_randomly(std::span<std::byte> bytes);

// Thread-safe.
class Leases {
 public:
  // Sessions that may be without a connection at a time; beyond that, those disconnected for the longest end early.
  static constexpr std::size_t kMaxLost = 1024;
  static constexpr std::string_view kNoSession = "there is no such session any more";

  // Sets the longest lease that clients are given. Initially 0: none.
  void set_limit(std::chrono::seconds limit) { limit_ = limit; }
  // A random name; for a client that wants a lease, also its length and a random secret. Errors: UNAVAILABLE when the
  // system has no random numbers.
  Result<ServedConversation::Terms> terms(std::uint32_t wanted_seconds) const;

  void add(const std::shared_ptr<ServedConversation>& conversation);
  // Finds the session to resume. Errors: NOT_FOUND, also for a wrong secret.
  Result<std::shared_ptr<ServedConversation>> find(const proto::Resume& resume) const;
  void remove(const ServedConversation& conversation);

  // Removes and returns the sessions whose lease has expired, or that have ended. The caller disposes of them.
  std::vector<std::shared_ptr<ServedConversation>> take_expired();
  // Removes and returns the sessions without a connection whose tenant `is_gone`; the caller disposes of them.
  // Connected ones are left: they end with their connection.
  std::vector<std::shared_ptr<ServedConversation>> take_lost_if(const std::function<bool(const std::string&)>& is_gone);
  // Removes and returns all sessions; the caller disposes of them.
  std::vector<std::shared_ptr<ServedConversation>> take_all();
  // All sessions that may be resumed, with those that are connected.
  std::vector<std::shared_ptr<const ServedConversation>> all() const;

  // Whether there is a session without a connection whose client takes notices and may still return.
  bool have_lost_with_notices() const;

  struct Counts {
    std::uint64_t resumes = 0, duplicates = 0;  // with those of ended sessions
    std::size_t lost = 0;                       // sessions without a connection now
  };
  Counts counts() const;

 private:
  using ByName = std::unordered_map<std::string, std::shared_ptr<ServedConversation>>;

  void remember(const ServedConversation& conversation);  // Requires: the lock.

  std::atomic<std::chrono::seconds> limit_{std::chrono::seconds{0}};
  mutable std::mutex mutex_;
  ByName by_name_;
  std::uint64_t resumes_ = 0, duplicates_ = 0;  // of removed sessions
};

}  // namespace burn::net
