// What a metric needs of a step's output, and what is said where a step does not give it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/metric/step_output.h"

namespace burn::metric {

using train::StepOutput;

enum class NeededKind : std::uint8_t { any, floating, integer, integer_or_bool };

// A tensor by its name in StepOutput.
struct Need {
  std::string name;                   // "targets"
  NeededKind kind = NeededKind::any;  // of the elements
  std::vector<int> ranks = {};        // that the metric takes; empty: any
};

// The tensor that is needed. Errors: INVALID_ARGUMENT with what is needed and what the step gives, where it gives no
// tensor of that name, or one of another kind or rank.
const client::Value& get(const StepOutput& output, const Need& need);

// The same as an error for a metric that takes one of several: "needs tokens: ..., but the step gives loss f32[1]".
[[noreturn]] void throw_missing(const std::string& needed, const StepOutput& output);

}  // namespace burn::metric
