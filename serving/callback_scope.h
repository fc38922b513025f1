// Marks threads that run a callback of a session: these must not wait for the session.
#pragma once

#include <utility>

namespace burn::serving {

// Scoped: lives as long as the callback, on its thread.
class CallbackScope {
 public:
  explicit CallbackScope(const void* session) : session_(session), outer_(std::exchange(innermost_, this)) {}
  ~CallbackScope() { innermost_ = outer_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

  static bool is_inside(const void* session) {
    for (const auto* scope = innermost_; scope; scope = scope->outer_) {
      if (scope->session_ == session) return true;
    }
    return false;
  }

 private:
  static inline thread_local const CallbackScope* innermost_ = nullptr;

  const void* const session_;
  const CallbackScope* const outer_;
};

}  // namespace burn::serving
