// What a device needs to know about a program before it runs it: what is computed together, in which order, and how
// long each value lives.
//
// Device-independent: the CPU runs it step by step, other devices record from it. A Plan is a value and refers to its
// program by position only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "compile/fusion/fuse.h"
#include "compile/fusion/group.h"
#include "ir/program.h"

namespace burn::compile {

// Layers of planning that can be switched off one by one, to find out what each is good for or to blame for, and what
// the device's kernels can hold.
struct PlanOptions {
  bool fusion = true;       // BURN_FUSION=off
  bool merge_equal = true;  // BURN_CSE=off
  bool recompute = true;    // BURN_RECOMPUTE=off
  bool epilogues = false;   // whether products are joined with their neighbours; not without fusion
  // Products of no more than so many bytes are joined with the groups that read them; not without fusion.
  std::uint64_t product_group_bytes = 0;
  bool buckets = false;  // whether all-reduces of a bucket are joined to one step
  bool tf32 = false;     // BURN_TF32=on
  FuseLimits limits;
  std::int64_t recompute_bytes = 1 << 18;  // of a value that is worth it: smaller ones stay in the caches

  static PlanOptions from_environment();
};

// A product (MatMul) and a node beside it that a library may compute in the same call, or a group that a kernel
// computes from sums in its registers. What is read and written is as if one came after the other.
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
  // bias: the operand of the sum that is not the product, of the sum's shape; group: the product as the group reads it.
  ir::Ref other;
  std::int32_t group = -1;  // in Plan::groups
};

// Nodes that run as one kernel: a single one, or a group; or as one call of a library: a product with its neighbour, or
// the collectives of a bucket.
struct PlanStep {
  static constexpr std::int32_t kSingle = -1, kNone = -1;

  std::int32_t group = kSingle;  // in Plan::groups
  std::int32_t node = -1;        // a single one
  std::int32_t product = kNone;  // in Plan::products
  // A single node's operands, in order, and one of each node of a bucket; of others the values from outside, each once:
  // of a product, what its operands are views of.
  std::vector<ir::Ref> reads = {};
  // All results of a single node or of a bucket, wanted (Plan::last_use) or not; of others, the values that are used
  // outside.
  std::vector<ir::Ref> results = {};
  std::vector<std::int32_t> bucket = {};  // two nodes or more, all-reduces of one bucket; `node` is the first of them
};

struct Plan {
  // Last uses are positions in `steps`; these two are not.
  static constexpr std::int32_t kUnused = -1;
  static constexpr std::int32_t kOutput = std::numeric_limits<std::int32_t>::max();

  std::vector<Group> groups;
  std::vector<ProductWithEpilogue> products;
  std::vector<PlanStep> steps;
  bool tf32 = false;  // f32 products and convolutions may be multiplied with ten bits of mantissa
  std::vector<std::int32_t> value_last_use;  // per value; kUnused also for those that live inside a group only
  std::vector<std::int32_t> input_last_use;  // per input

  std::int32_t last_use(ir::Ref ref) const {
    const auto& uses = ref.is_input() ? input_last_use : value_last_use;
    return uses[static_cast<std::size_t>(ref.index())];
  }
};

// Expects a program without dead nodes (simplify). Steps with an effect are in the program's order; a collective comes
// as soon as its operand is there, as far as that order allows.
Plan make_plan(const ir::Program& program, const PlanOptions& options = {});

// Leaves out the steps that are marked; the others stay in their order. Before last uses are found.
void drop_steps(Plan& plan, const std::vector<bool>& is_gone);

std::size_t memory_bytes(const Plan& plan);  // that it takes, roughly

// One line per step, for BURN_TRACE=plan.
std::string to_string(const Plan& plan, const ir::Program& program);

}  // namespace burn::compile
