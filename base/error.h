// The exception of the user-facing API, thrown by tensor functions, modules, data sets and training.
#pragma once

#include <exception>
#include <source_location>
#include <string>

#include "base/status.h"

namespace burn {

// Carries a Status; what() is one sentence with the names and numbers involved.
class Error : public std::exception {
 public:
  explicit Error(Status status) : status_(std::move(status)) {}
  Error(StatusCode code, std::string message) : status_(code, std::move(message)) {}

  const char* what() const noexcept override { return status_.message().c_str(); }
  StatusCode code() const { return status_.code(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Returns the value, or throws the Status as an Error.
template <typename T>
T value_or_throw(Result<T> result) {
  if (!result.ok()) throw Error(result.status());
  return *std::move(result);
}

inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw Error(status);
}

[[noreturn]] void check_failed(const char* condition, const char* message,
                               std::source_location where = std::source_location::current());

}  // namespace burn

// A programmer's error, never reachable from the network or a user's data: logs and aborts.
#define BURN_CHECK(condition, message)                           \
  do {                                                           \
    if (!(condition)) ::burn::check_failed(#condition, message); \
  } while (false)
