#include "base/status.h"

#include <array>

#include "base/error.h"

namespace burn {

std::string_view name(StatusCode code) {
  static constexpr std::array<std::string_view, 17> kNames = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  const auto index = static_cast<std::size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

Status Status::with_context(std::string_view context) const {
  if (ok()) return *this;
  std::string message{context};
  message += ": ";
  message += message_;
  return {code_, std::move(message)};
}

std::string Status::to_string() const {
  if (ok()) return "OK";
  std::string text{name(code_)};
  text += ": ";
  text += message_;
  return text;
}

Status invalid_argument(std::string message) { return {StatusCode::invalid_argument, std::move(message)}; }
Status not_found(std::string message) { return {StatusCode::not_found, std::move(message)}; }
Status resource_exhausted(std::string message) { return {StatusCode::resource_exhausted, std::move(message)}; }
Status failed_precondition(std::string message) { return {StatusCode::failed_precondition, std::move(message)}; }
Status unimplemented(std::string message) { return {StatusCode::unimplemented, std::move(message)}; }
Status internal_error(std::string message) { return {StatusCode::internal, std::move(message)}; }
Status unavailable(std::string message) { return {StatusCode::unavailable, std::move(message)}; }
Status cancelled(std::string message) { return {StatusCode::cancelled, std::move(message)}; }
Status data_loss(std::string message) { return {StatusCode::data_loss, std::move(message)}; }

void throw_failure(const Status& status) { throw Error(status); }

}  // namespace burn
