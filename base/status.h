// Errors as values: Status is a canonical code (gRPC's set) with a message; Result is a value or a Status.
//
// Inside the libraries an expected failure (a bad graph from the wire, a peer that went away, no memory) is a Status or
// a Result<T>; the tensor API and training turn it into a thrown burn::Error (base/error.h). Values, no shared state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace burn {

// gRPC's canonical codes, with their numbers, which are sent over the wire.
enum class StatusCode : int {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

// "INVALID_ARGUMENT", ...; "UNKNOWN" for a number outside the set.
std::string_view name(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with a prefix that says where it happened: "context: message".
  Status with_context(std::string_view context) const;
  std::string to_string() const;  // "OK" or "INVALID_ARGUMENT: message"

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

inline Status ok_status() { return {}; }
Status invalid_argument(std::string message);
Status not_found(std::string message);
Status resource_exhausted(std::string message);
Status failed_precondition(std::string message);
Status unimplemented(std::string message);
Status internal_error(std::string message);
Status unavailable(std::string message);
Status cancelled(std::string message);
Status data_loss(std::string message);

[[noreturn]] void throw_failure(const Status& status);  // as a burn::Error

// A T, or the Status that says why there is none. Function names follow std::expected.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: requires !status.ok()

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  Status status() const { return ok() ? Status{} : std::get<1>(state_); }

  // Requires: ok().
  // Otherwise value() and the operators throw the Status as a burn::Error.
  T& value() & { return check(), std::get<0>(state_); }
  const T& value() const& { return check(), std::get<0>(state_); }
  T&& value() && { return check(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void check() const {
    if (!ok()) [[unlikely]]
      throw_failure(std::get<1>(state_));
  }

  std::variant<T, Status> state_;
};

}  // namespace burn

#define BURN_CONCAT_INNER(a, b) a##b
#define BURN_CONCAT(a, b) BURN_CONCAT_INNER(a, b)

// BURN_TRY(auto x, f()): x is the value, or the enclosing function returns f's failure.
#define BURN_TRY(declaration, expression) BURN_TRY_INNER(BURN_CONCAT(burn_try_, __COUNTER__), declaration, expression)
#define BURN_TRY_INNER(result, declaration, expression) \
  auto result = (expression);                           \
  if (!result.ok()) return result.status();             \
  declaration = *std::move(result)

// The enclosing function returns the failure of a Status expression.
#define BURN_RETURN_IF_ERROR(expression)                                           \
  do {                                                                             \
    if (auto burn_status_ = (expression); !burn_status_.ok()) return burn_status_; \
  } while (false)
