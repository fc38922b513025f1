// Several ways to lower an op, of which the fastest on the device is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "compile/codegen/emitter.h"

namespace burn::compile {

struct Alternative {
  std::string name;  // the choice is remembered by it
  // Writes all `results`, reading `operands`, and no other values. Errors: UNIMPLEMENTED, where this way does not do
  // it.
  std::function<Status(Emitter& emit, std::span<const View> operands, std::span<const View> results)> emit;
};

// Emits the alternative that Target::fastest() says; where it does not do it, the first that does. Errors: the last
// one's, where none does it.
Status emit_fastest(Emitter& emit, const std::string& key, std::span<const View> operands,
                    std::span<const View> results, std::span<const Alternative> alternatives);

// A size as keys of alternatives have it: its three leading binary digits, so that what grows step by step is timed now
// and then, and not at each step.
std::int64_t size_in_key(std::int64_t exact);

}  // namespace burn::compile
