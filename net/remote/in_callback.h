// Shared by the files of Conversation.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/status.h"
#include "base/time_of_day.h"

namespace burn::net {

// Marks this thread as one that handles a channel's frame. It must not wait for any conversation, as conversations may
// share the thread.
class InCallback {
 public:
  InCallback() : outer_(std::exchange(is_inside_, true)) {}
  ~InCallback() { is_inside_ = outer_; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

  static bool is_inside() { return is_inside_; }

 private:
  static inline thread_local bool is_inside_ = false;
  const bool outer_;
};

inline Status lost(const std::string& url, std::string_view why) {
  return unavailable(fmt::format("lost connection to {}: {}", url, why));
}
// The same for a session that cannot continue; reported whenever one of its tensors is used later.
inline Status lost_for_good(const std::string& url, const std::string& why) {
  return lost(url, why + " (at " + time_of_day() + ")");
}

}  // namespace burn::net
