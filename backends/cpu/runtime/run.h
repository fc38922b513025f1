// One execution of a program as its kernels see it, and the type of kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "backends/cpu/runtime/array.h"
#include "backends/stream.h"
#include "base/status.h"
#include "ir/program.h"

namespace burn::backends::cpu {

struct Run {
  Pool& pool;
  std::span<const std::uint64_t> scalars;
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;
  const Groups* groups = nullptr;  // as RunArgs::groups

  // A new row-major array with undefined contents.
  Result<Array> allocate(const ir::TensorType& type) {
    BURN_TRY(auto buffer, pool.allocate(type.num_bytes()));
    return Array{type, std::move(buffer)};
  }
};

// The types of a node.
struct Signature {
  std::span<const ir::TensorType* const> operands;
  const ir::TensorType& result;  // the first one
  std::span<const ir::NodeResult> results;
};

// A node ready to run: what depends on its attributes and types is already computed. Thread-safe. The operands belong
// to the kernel: a value at its last use is moved in, and if its buffer has no other owner, a result may overwrite it.
class Kernel {
 public:
  Kernel() = default;
  // From a function of (Run&, operands) that returns the only result.
  template <typename Body>
    requires std::is_invocable_r_v<Result<Array>, const Body&, Run&, std::span<Array>>
  Kernel(Body body)  // NOLINT: implicit on purpose
      : call_([body = std::move(body)](Run& run, std::span<Array> operands, std::span<Array> results) -> Status {
          auto result = body(run, operands);
          if (!result.ok()) return result.status();
          results[0] = *std::move(result);
          return {};
        }) {}
  // From a function of (Run&, operands, results) that fills all results.
  template <typename Body>
    requires std::is_invocable_r_v<Status, const Body&, Run&, std::span<Array>, std::span<Array>>
  Kernel(Body body) : call_(std::move(body)) {}  // NOLINT: implicit on purpose

  // `results`: one empty array for each result of the node; not to be used after a failure.
  Status operator()(Run& run, std::span<Array> operands, std::span<Array> results) const {
    return call_(run, operands, results);
  }

 private:
  std::function<Status(Run&, std::span<Array>, std::span<Array>)> call_;
};

namespace kernels {

// One function per op, each in the file of its family. To be called as kernels::prepare: a missing one must not
// compile.
#define OP(type) Result<Kernel> prepare(const ir::type& op, const Signature& signature);
BURN_OPS(OP)
#undef OP

}  // namespace kernels
}  // namespace burn::backends::cpu
