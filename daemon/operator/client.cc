#include "daemon/operator/client.h"

#include <charconv>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "net/dial/exchange.h"

namespace burn::daemon {
namespace {

// The number at the beginning of a text.
template <typename Number>
bool read_number(std::string_view digits, Number& number) {
  return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
}

// Parses the answer of our own server, which always sends Content-Length and closes the connection.
Result<OperatorAnswer> parse(std::string_view text) {
  constexpr std::string_view kVersion = "HTTP/1.1 ", kEnd = "\r\n\r\n", kLength = "Content-Length: ";
  const auto end = text.find(kEnd);
  const auto length_at = text.find(kLength);
  OperatorAnswer answer;
  std::size_t length = 0;
  const bool is_answer = text.starts_with(kVersion) && end != std::string_view::npos && length_at < end &&
                         read_number(text.substr(kVersion.size()), answer.status) &&
                         read_number(text.substr(length_at + kLength.size()), length);
  if (!is_answer) return data_loss("what answers there is no operator's port");
  answer.body = text.substr(end + kEnd.size());
  if (answer.body.size() == length) return answer;
  return data_loss(fmt::format("the answer has {} bytes of {}", answer.body.size(), length));
}

}  // namespace

Result<OperatorAnswer> ask_operator(const std::string& address, std::string_view method, std::string_view path,
                                    std::chrono::milliseconds timeout) {
  const auto request = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
  BURN_TRY(const auto text, net::exchange(address, request, timeout));
  return parse(text);
}

}  // namespace burn::daemon
