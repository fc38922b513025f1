// A plan: what a device needs to know about a program before it runs it. Which nodes are computed together, in which
// order, and how long each value lives.
//
// Device-independent: the CPU runs a plan step by step, for other devices it is lowered to commands. A Plan is a plain
// value that refers to its program's nodes and values by index only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compile/fusion/fuse.h"
#include "compile/fusion/group.h"
#include "ir/program.h"

namespace burn::compile {

// Planning passes that can be switched off one by one, to measure what each gains or to find the pass that causes an
// error, and the limits of the device's kernels.
struct PlanOptions {
  bool fusion = true;       // BURN_FUSION=off
  bool merge_equal = true;  // BURN_CSE=off
  bool recompute = true;    // BURN_RECOMPUTE=off
  bool epilogues = false;   // whether products are joined with their neighbours; requires fusion
  // Products of at most this many bytes are joined with the groups that read them; requires fusion.
  std::uint64_t product_group_bytes = 0;
  bool buckets = false;  // whether the all-reduces of a bucket become one step
  bool tf32 = false;     // BURN_TF32=on
  FuseLimits limits;
  std::int64_t recompute_bytes = 1 << 18;  // smaller values are not recomputed, because they stay in the caches

  static PlanOptions from_environment();
};

// A product (MatMul) joined with a neighbouring node that a library may compute in the same call, or with a group that
// a kernel computes from sums in its registers. The step reads and writes the same values as the two steps in sequence.
struct ProductWithEpilogue {
  enum class Kind : std::uint8_t {
    bias,         // the neighbour adds a number for each column to the product, or to a reshape of it with the same
                  // columns, which has no other reader
    first_sums,   // the neighbour sums the product's first operand [rows, inner] over inner: [1, rows]
    second_sums,  // the neighbour sums the product's second operand [inner, columns] over inner: [1, columns]
    group,        // a group without rows reads the product, or a reshape of it, which has no other reader
  };
  Kind kind = Kind::bias;
  std::int32_t product = -1, neighbour = -1;  // nodes; group: no neighbour
  // bias: the other operand of the sum, which has the sum's shape; group: the product as the group reads it.
  ir::Ref other;
  std::int32_t group = -1;  // in Plan::groups
};

// Nodes that are executed together: a single node or a group, which run as one kernel, or a product with its neighbour
// or the collectives of a bucket, which run as one library call.
struct PlanStep {
  static constexpr std::int32_t kSingle = -1, kNone = -1;

  std::int32_t group = kSingle;  // in Plan::groups
  std::int32_t node = -1;        // of a single node; of a bucket its first node
  std::int32_t product = kNone;  // in Plan::products
  // A single node: its operands, in order. A bucket: the operand of each node. Others: the values read from outside,
  // each once; a product's operands are replaced by the bases that they view.
  std::vector<ir::Ref> reads = {};
  // A single node or a bucket: all results, used (Plan::last_use) or not. Others: the values that are used outside.
  std::vector<ir::Ref> results = {};
  std::vector<std::int32_t> bucket = {};  // two or more all-reduces of one bucket; `node` is the first of them
};

struct Plan {
  // Last uses are positions in `steps`, except for these two.
  static constexpr std::int32_t kUnused = -1;
  static constexpr std::int32_t kOutput = std::numeric_limits<std::int32_t>::max();

  std::vector<Group> groups;
  std::vector<ProductWithEpilogue> products;
  std::vector<PlanStep> steps;
  bool tf32 = false;  // f32 products and convolutions may be multiplied with ten bits of mantissa
  std::vector<std::int32_t> value_last_use;  // per value; kUnused also for values that are used inside a group only
  std::vector<std::int32_t> input_last_use;  // per input

  std::int32_t last_use(ir::Ref ref) const {
    const auto& uses = ref.is_input() ? input_last_use : value_last_use;
    return uses[static_cast<std::size_t>(ref.index())];
  }
};

// Requires: a program without dead nodes (simplify). Steps with an effect keep the program's order; a collective is
// placed as early after its operand as that order allows.
Plan make_plan(const ir::Program& program, const PlanOptions& options = {});

// Removes the steps that are marked; the others keep their order. Requires: last uses not found yet.
void drop_steps(Plan& plan, const std::vector<bool>& is_gone);

std::size_t memory_bytes(const Plan& plan);  // bytes of host memory that the plan takes, roughly

// One line per step, for BURN_TRACE=plan.
std::string to_string(const Plan& plan, const ir::Program& program);

}  // namespace burn::compile
