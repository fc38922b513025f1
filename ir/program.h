// A program: straight-line tensor code, defined once and run many times with different bindings.
//
// Values are numbered by position, inputs separately from results of nodes, so that a program can be hashed while it is
// recorded. Results are numbered consecutively over all nodes: if every op has one result, a value's number is that of
// its node. Names, ids and addresses are not part of a program; two programs with the same hash compute the same.
// Values are immutable; a Program has value semantics.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/image_hash.h"
#include "ir/op.h"

namespace burn::ir {

// An operand: the k-th result, counted over all nodes (k >= 0), or the k-th input.
class Ref {
 public:
  Ref() = default;
  static Ref value(std::int32_t k) { return Ref{k}; }
  static Ref input(std::int32_t k) { return Ref{~k}; }

  bool is_input() const { return code_ < 0; }
  std::int32_t index() const { return code_ < 0 ? ~code_ : code_; }
  std::int32_t code() const { return code_; }  // one number for both: index, or ~index for an input
  static Ref from_code(std::int32_t code) { return Ref{code}; }
  // The node's k-th result. Requires: this is its first one.
  Ref result(int k) const { return Ref{code_ + k}; }
  friend bool operator==(Ref, Ref) = default;

 private:
  explicit Ref(std::int32_t code) : code_(code) {}
  std::int32_t code_ = 0;
};

// Where the user's call is in the source; for error messages only, never hashed. `file` lives as long as the program
// that has the CallSite.
struct CallSite {
  const char* file = nullptr;  // null: unknown
  std::uint32_t line = 0;
  const char* op =
      nullptr;  // the function called, if it is not the node's op: sum_dim of a reduce; null: the node's op
};
std::string to_string(const CallSite& site);  // "model.cc:41"

struct Node {
  Op op;
  std::uint32_t operand_begin = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_value = 0;  // of its results
  std::uint32_t value_count = 1;
  bool recompute = false;  // recomputes an earlier node's results to save memory: no pass merges it with another
  bool effect = false;     // has_effect(op): kept, never merged, order preserved
  CallSite site;
};

// A result of a node.
struct NodeResult {
  TensorType type;
  std::int32_t node = 0;
};

struct Input {
  TensorType type;
  bool donated = false;  // its last handle was dropped: the run may reuse its memory and must release it
};

// 128 bits over inputs, nodes and outputs (XXH3).
struct ProgramHash {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const ProgramHash&, const ProgramHash&) = default;
};
std::string to_string(const ProgramHash& hash);  // 32 hex digits

struct Program {
  std::vector<Input> inputs;
  std::vector<Node> nodes;
  std::vector<NodeResult> values;  // the results of all nodes, concatenated
  std::vector<Ref> operands;       // of all nodes, concatenated
  std::vector<Ref> outputs;        // distinct results of nodes, never inputs
  std::int32_t scalar_count = 0;   // scalar slots, which each run fills
  std::int64_t random_blocks = 0;  // blocks of four numbers that a run takes from the random stream
  std::int32_t effect_count = 0;   // nodes with an effect, except Commits; if any, it runs even without outputs
  ProgramHash hash;
  // A hash of its nodes' call sites, by the addresses of their names: two programs of one process with the same hash
  // and the same key were recorded from the same lines. For caches of programs, as errors name those lines.
  std::uint64_t site_key = 0;
  std::shared_ptr<const void> site_files;  // keeps the CallSites' names alive in a decoded program

  std::span<const Ref> operands_of(const Node& node) const {
    return std::span(operands).subspan(node.operand_begin, node.operand_count);
  }
  std::span<const NodeResult> results_of(const Node& node) const {
    return std::span(values).subspan(node.first_value, node.value_count);
  }
  const TensorType& type_of(Ref ref) const {
    const auto i = static_cast<std::size_t>(ref.index());
    return ref.is_input() ? inputs[i].type : values[i].type;
  }
  const TensorType& type_of(const Node& node) const { return values[node.first_value].type; }  // of its first result
  // The node that computes a value. Requires: not an input.
  std::int32_t node_of(Ref value) const { return values[static_cast<std::size_t>(value.index())].node; }
  const Node& maker_of(Ref value) const { return nodes[static_cast<std::size_t>(node_of(value))]; }
};

// A program's size in nodes, inputs and operands, independent of how it is stored. Quotas count these.
inline std::size_t num_entries(const Program& program) {
  return program.nodes.size() + program.inputs.size() + program.operands.size();
}
std::size_t memory_bytes(const Program& program);  // in this process, roughly

std::string to_string(const Program& program);  // one line per input and node, and one for the outputs

// Compares everything that the hash covers. XXH3 is not cryptographic: a cache shared by users that need not trust each
// other must compare with this as well.
bool same(const Program& a, const Program& b);

// Builds a program node by node: infers types, numbers values and hashes incrementally. Not thread-safe.
class ProgramBuilder {
 public:
  // The most nodes that a program may have; decoders check it too.
  static constexpr std::size_t kMaxNodes = 1 << 20;
  static constexpr std::size_t kMaxOperands = 1 << 22;  // of all nodes together
  static constexpr std::int64_t kMaxRandomBlocks = std::int64_t{1} << 62;

  Ref add_input(const TensorType& type);  // Requires: checked_num_elements(type.shape) has a value.
  // Appends a node and returns its first result; the others follow it (Ref::result). Errors: operands that do not exist
  // or do not fit; a Scalar or Random that does not use the next free slot or offset; a full program. The builder is
  // then unchanged.
  Result<Ref> add(const Op& op, std::span<const Ref> operands, CallSite site = {}, bool recompute = false);
  // Appends a Scalar of the next free slot, a rank-0 value. Requires: size() < kMaxNodes.
  Ref add_scalar(DType dtype);
  // Appends the op with its offset set to the next free part of the random stream.
  Result<Ref> add_random(Random op, CallSite site = {});

  const TensorType& type_of(Ref ref) const { return program_.type_of(ref); }
  const Program& program() const { return program_; }
  std::size_t size() const { return program_.nodes.size(); }  // nodes
  bool empty() const { return program_.nodes.empty(); }
  void donate(std::int32_t input) { program_.inputs[static_cast<std::size_t>(input)].donated = true; }

  // Checks that these can be outputs: distinct results of nodes. For decoded lists.
  Status check_outputs(std::span<const Ref> outputs) const;
  // Completes the program with these outputs; the builder is empty afterwards. Requires: check_outputs(outputs).ok().
  Program finish(std::vector<Ref> outputs);
  // The same in two steps, for callers that may already have a program with that hash: seal() completes program(), with
  // its hash, in the builder; then clear() discards it but keeps the memory, or take() returns it.
  void seal(std::vector<Ref> outputs);
  void clear();
  Program take();

 private:
  // add() for a known op type. Requires: the operands exist.
  template <typename Kind>
  Result<Ref> append(const Kind& kind, std::span<const TensorType* const> types, std::span<const Ref> operands,
                     CallSite site, bool recompute);

  Program program_;
  ImageHash hash_;  // of the nodes so far
};

}  // namespace burn::ir
