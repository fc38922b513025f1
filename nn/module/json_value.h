// JSON as values, with fractions that are the nearest doubles to what is written: the parser that comes with Boost 1.81
// is off by a unit in the last place in one of eight, and makes infinity of what is too large.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/status.h"

namespace burn::nn::detail {

// Errors: INVALID_ARGUMENT, what is wrong and in which line; also where a number is larger than a double holds.
Result<boost::json::value> parse_json(std::string_view text);

}  // namespace burn::nn::detail
