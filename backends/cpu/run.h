// One execution of a program as its kernels see it, and what a kernel is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "backends/cpu/array.h"
#include "base/status.h"
#include "ir/op.h"

namespace burn::backends::cpu {

struct Run {
  Pool& pool;
  std::span<const std::uint64_t> scalars;
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;

  // A new row-major array with undefined contents.
  Result<Array> allocate(const ir::TensorType& type) {
    BURN_TRY(auto buffer, pool.allocate(type.num_bytes()));
    return Array{type, std::move(buffer)};
  }
};

// The types of a node.
struct Signature {
  std::span<const ir::TensorType* const> operands;
  const ir::TensorType& result;
};

// A node made ready to run: what depends on its attributes and types is done. Thread-safe. The operands are the
// kernel's own: one at its last use is moved in, and if nobody else holds its buffer, the result may be written over
// it.
using Kernel = std::function<Result<Array>(Run&, std::span<Array>)>;

namespace kernels {

// One function per op, each in the file of its family. Call as kernels::prepare: a missing one must not compile.
#define OP(type) Result<Kernel> prepare(const ir::type& op, const Signature& signature);
#include "ir/ops.def"
#undef OP

}  // namespace kernels
}  // namespace burn::backends::cpu
