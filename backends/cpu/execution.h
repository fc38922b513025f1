// One run of a program: where its values are, which of them failed, and the stages one after the other.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/apart.h"
#include "backends/cpu/stage.h"

namespace burn::backends::cpu {

// What work that a run leaves behind needs (backends/apart.h).
struct RunLife {
  std::shared_ptr<const void> executable;   // its kernels and pool are in use
  std::shared_ptr<LeftBehind> left_behind;  // of the session; null: nothing is left behind
};

// Of one thread. Refers to what it is made of.
class Execution {
 public:
  // Requires: arguments that fit the program. Takes their buffers.
  Execution(const ir::Program& program, const Plan& plan, std::span<const Stage> stages, Pool& pool, RunArgs& args,
            const RunLife& life);

  RunResult run();

 private:
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  Array& value(ir::Ref ref) {
    return ref.is_input() ? inputs_[static_cast<std::size_t>(ref.index())]
                          : values_[static_cast<std::size_t>(ref.index())];
  }
  std::size_t index_of(ir::Ref ref) const;  // in failures_
  Failure failure_among(std::span<const ir::Ref> refs) const;
  void fail(ir::Ref ref, Failure why);
  void keep(ir::Ref ref, Array value) {  // if anybody wants it
    if (plan_.last_use(ref) != Plan::kUnused) values_[static_cast<std::size_t>(ref.index())] = std::move(value);
  }

  std::vector<Array> take_operands(std::size_t position);
  void run_single(std::size_t position);
  Status run_long(const Stage& stage, std::vector<Array> operands, std::span<Array> results);
  void run_groups(std::size_t first, std::size_t count);
  void run_members(std::size_t position, std::vector<Array> reads);
  RunResult outputs();

  const ir::Program& program_;
  const Plan& plan_;
  const std::span<const Stage> stages_;
  Run run_;
  const RunLife& life_;
  std::vector<Array> inputs_, values_;
  std::vector<Failure> failures_;  // of the inputs, then the values; empty as long as all is well
};

}  // namespace burn::backends::cpu
