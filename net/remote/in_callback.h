// What both files of Conversation share.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/status.h"
#include "base/time_of_day.h"

namespace burn::net {

// Whether this thread is a channel's and handles a frame: then it must not wait, for any conversation. They may share
// it.
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
// The same for good: said whenever a tensor of the session is asked for later.
inline Status lost_for_good(const std::string& url, const std::string& why) {
  return lost(url, why + " (at " + time_of_day() + ")");
}

}  // namespace burn::net
