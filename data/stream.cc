#include "data/stream.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::data {

StreamPosition StreamPosition::parse(const std::string& text) {
  StreamPosition position;
  if (text.empty()) return position;
  const auto colon = text.find(':');
  const char* const end = text.data() + std::min(colon, text.size());
  const auto [stop, error] = std::from_chars(text.data(), end, position.pass);
  if (colon == std::string::npos || colon == 0 || stop != end || error != std::errc{}) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("data loader: \"{}\" is no position of a stream, such as \"2:1048576\"", text));
  }
  position.in_pass = text.substr(colon + 1);
  return position;
}

std::string StreamPosition::text() const { return fmt::format("{}:{}", pass, in_pass); }

void ReadingOrder::in_turn(std::size_t number, const std::function<void()>& read) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return next_ == number || has_failed_; });
  if (has_failed_) throw Error(StatusCode::internal, "data loader: an earlier batch of the stream could not be read");
  try {
    read();
  } catch (...) {
    has_failed_ = true;
    moved_.notify_all();
    throw;
  }
  next_ = number + 1;
  moved_.notify_all();
}

void throw_no_items(std::size_t pass) {
  throw Error(StatusCode::invalid_argument, fmt::format("data loader: pass {} of the stream has no item", pass));
}

}  // namespace burn::data
