// Parses JSON such that fractions become the nearest double: the parser of Boost 1.81 is off by a unit in the last
// place for one number in eight, and turns numbers that are too large into infinity.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/status.h"

namespace burn::nn::detail {

// Errors: INVALID_ARGUMENT, with the line, for a syntax error and for a number too large for a double.
Result<boost::json::value> parse_json(std::string_view text);

}  // namespace burn::nn::detail
