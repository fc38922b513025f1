#include "nn/module/json_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <fmt/format.h>

namespace burn::nn::detail {
namespace {

namespace json = boost::json;
using ErrorCode = boost::system::error_code;

class Handler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  Handler() { stack_.reset(); }

  std::string too_large;  // the text of the first number that overflows a double
  json::value release() { return stack_.release(); }

  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }
  bool on_object_begin(ErrorCode&) { return true; }
  bool on_object_end(std::size_t size, ErrorCode&) { return stack_.push_object(size), true; }
  bool on_array_begin(ErrorCode&) { return true; }
  bool on_array_end(std::size_t size, ErrorCode&) { return stack_.push_array(size), true; }
  bool on_key_part(json::string_view part, std::size_t, ErrorCode&) { return stack_.push_chars(part), true; }
  bool on_key(json::string_view part, std::size_t, ErrorCode&) { return stack_.push_key(part), true; }
  bool on_string_part(json::string_view part, std::size_t, ErrorCode&) { return stack_.push_chars(part), true; }
  bool on_string(json::string_view part, std::size_t, ErrorCode&) { return stack_.push_string(part), true; }
  bool on_number_part(json::string_view part, ErrorCode&) { return number_.append(part.data(), part.size()), true; }
  bool on_int64(std::int64_t value, json::string_view, ErrorCode&) {
    number_.clear();
    return stack_.push_int64(value), true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, ErrorCode&) {
    number_.clear();
    return stack_.push_uint64(value), true;
  }
  bool on_double(double roughly, json::string_view part, ErrorCode& code) {
    number_.append(part.data(), part.size());
    const auto text = std::exchange(number_, {});
    double value = roughly;  // from_chars() does not change it if the number is too small for a double: 0
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (std::isinf(value)) {
      too_large = text;
      code = boost::system::errc::make_error_code(boost::system::errc::result_out_of_range);
      return false;
    }
    return stack_.push_double(value), true;
  }
  bool on_bool(bool value, ErrorCode&) { return stack_.push_bool(value), true; }
  bool on_null(ErrorCode&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, ErrorCode&) { return true; }
  bool on_comment(json::string_view, ErrorCode&) { return true; }

 private:
  json::value_stack stack_;
  std::string number_;  // text of the number being parsed, which may arrive in parts
};

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = 64;
  json::basic_parser<Handler> parser{options};
  ErrorCode error;
  const auto read = parser.write_some(false, text.data(), text.size(), error);
  const bool goes_on = !error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos;
  if (!error && !goes_on) return parser.handler().release();
  const auto& number = parser.handler().too_large;
  const auto why = goes_on          ? "there is more after its end"
                   : number.empty() ? error.message()
                                    : fmt::format("{} is more than a number of 64 bits holds", number);
  const auto line = 1 + std::ranges::count(text.substr(0, read), '\n');
  return invalid_argument(fmt::format("{} (line {})", why, line));
}

}  // namespace burn::nn::detail
