// What outputs are made in: an input that they are, buffers of their own, and those of inputs that are not needed any
// more.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "compile/lower/lowered.h"
#include "compile/plan/views.h"

namespace burn::compile {

// A constant or a scalar, which may have no memory.
bool is_number(const ir::Program& program, ir::Ref value);

// Values that outputs are, or that outputs see whole and row-major, are computed where the output is to be: it is noted
// in `output_of`, per value, which is -1 so far.
std::vector<OutputSource> assign_outputs(const ir::Program& program, const std::vector<ValueView>& views,
                                         std::vector<std::int32_t>& output_of);

// When things happen, in steps; -1: never.
struct Timeline {
  Timeline(std::size_t inputs, std::size_t values, std::size_t outputs)
      : last_read(inputs, -1), made(values, -1), copied(outputs, -1) {}

  std::vector<std::int32_t> last_read;                          // per input
  std::vector<std::int32_t> made;                               // per value
  std::vector<std::int32_t> copied;                             // per output, where it is not computed in its buffer
  std::vector<std::pair<std::int32_t, std::int32_t>> in_place;  // inputs, and values that may be made over them
};

// Donated inputs become outputs of as many bytes that are made when they are not read any more, or in place.
void reuse_inputs(const ir::Program& program, const Timeline& timeline, std::span<const std::int32_t> output_of,
                  std::vector<OutputSource>& outputs);

}  // namespace burn::compile
