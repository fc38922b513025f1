// Sessions that outlive their connections, by name: those that are connected, too, as a client may notice first that a
// connection is lost.
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
  // Sessions that may be without a connection at a time; beyond them those that are so for the longest end early.
  static constexpr std::size_t kMaxLost = 1024;
  static constexpr std::string_view kNoSession = "there is no such session any more";

  // The longest lease that clients are given; 0 at first: none.
  void set_limit(std::chrono::seconds limit) { limit_ = limit; }
  // A random name, and for a client that wants a lease, its length and a random secret. Errors: UNAVAILABLE when the
  // system has no random numbers.
  Result<ServedConversation::Terms> terms(std::uint32_t wanted_seconds) const;

  void add(const std::shared_ptr<ServedConversation>& conversation);
  // Errors: NOT_FOUND, for a wrong secret likewise.
  Result<std::shared_ptr<ServedConversation>> find(const proto::Resume& resume) const;
  void remove(const ServedConversation& conversation);

  // Those whose lease is over, and those which are; all of them. To be disposed of.
  std::vector<std::shared_ptr<ServedConversation>> take_expired();
  // Those of a tenant that is not to have any more which have no connection; the others end with theirs.
  std::vector<std::shared_ptr<ServedConversation>> take_lost_if(const std::function<bool(const std::string&)>& is_gone);
  std::vector<std::shared_ptr<ServedConversation>> take_all();
  // All that may be resumed, with those that are connected.
  std::vector<std::shared_ptr<const ServedConversation>> all() const;

  // Whether a session waits for its client to come back that takes notices.
  bool have_lost_with_notices() const;

  struct Counts {
    std::uint64_t resumes = 0, duplicates = 0;  // of sessions that have ended, too
    std::size_t lost = 0;                       // sessions without a connection now
  };
  Counts counts() const;

 private:
  using ByName = std::unordered_map<std::string, std::shared_ptr<ServedConversation>>;

  void remember(const ServedConversation& conversation);  // With the lock held.

  std::atomic<std::chrono::seconds> limit_{std::chrono::seconds{0}};
  mutable std::mutex mutex_;
  ByName by_name_;
  std::uint64_t resumes_ = 0, duplicates_ = 0;  // of those that were removed
};

}  // namespace burn::net
