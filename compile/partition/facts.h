// What a program says of its values, whatever form they are in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace burn::compile::partition {

// Facts about values that no form changes.
struct Facts {
  std::vector<bool> is_zero;       // in every element
  std::vector<bool> tells_commit;  // a Commit, or its conjunction with others
  // What is chosen by such stays this input where a step failed, or is new; none: it is no such choice.
  static constexpr std::int32_t kNone = -1, kNew = -2;
  std::vector<std::int32_t> state_input;
  std::vector<std::int32_t> placed;  // the axis of a Place, of it and of such choices before and behind it; -1: none
  std::vector<std::optional<ir::Ref>> read_with;  // with what of its shape it is first read by a pointwise op

  // A Place counts that is of this axis; none: all of them do.
  explicit Facts(const ir::Program& program, std::optional<ir::MeshAxis> axis = std::nullopt);

 private:
  void note_read_with(const ir::Program& program, std::span<const ir::Ref> operands);
};

inline bool is_expand(const ir::Op& op) { return std::holds_alternative<ir::Expand>(op); }

}  // namespace burn::compile::partition
