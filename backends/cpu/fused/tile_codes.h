// The code of a program's groups, each kind compiled once: the steps of an unrolled sequence, and the layers of a
// model, have groups that differ only in where their values are.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "backends/cpu/fused/tile_code.h"

namespace burn::backends::cpu {

// Used by one thread, while a plan is prepared.
class TileCodes {
 public:
  // The program outlives it.
  explicit TileCodes(const ir::Program& program) : program_(program), positions_(program) {}

  // Errors: compile_group()'s.
  Result<std::shared_ptr<const TileCode>> of(const compile::Group& group, const compile::PlanStep& step);

 private:
  void write_key(const compile::Group& group, const compile::PlanStep& step);

  const ir::Program& program_;
  std::unordered_map<std::string, std::shared_ptr<const TileCode>> codes_;
  std::string key_;  // of the group that is being looked up
  GroupPositions positions_;
};

}  // namespace burn::backends::cpu
