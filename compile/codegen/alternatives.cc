#include "compile/codegen/alternatives.h"

#include <algorithm>
#include <bit>

#include "compile/codegen/target.h"

namespace burn::compile {

Status emit_fastest(Emitter& emit, const std::string& key, std::span<const View> operands,
                    std::span<const View> results, std::span<const Alternative> alternatives) {
  const auto first = alternatives.size() > 1 ? emit.target().fastest(key, operands, results, alternatives) : 0;
  Status status = alternatives[first].emit(emit, operands, results);
  for (std::size_t i = 0; i < alternatives.size() && !status.ok(); ++i) {
    if (i != first) status = alternatives[i].emit(emit, operands, results);
  }
  return status;
}

std::int64_t size_in_key(std::int64_t exact) {
  const int others = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(exact))) - 3);
  return exact >> others << others;
}

}  // namespace burn::compile
