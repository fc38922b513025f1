// In which form a node of a program is computed on the members of a group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/small_array.h"
#include "compile/partition/layout.h"
#include "ir/factors.h"
#include "ir/program.h"

namespace burn::compile::partition {

// One way to compute a node.
struct Choice {
  std::vector<Form> operands;  // what it reads
  std::vector<Form> results;   // what it gives
  bool is_alone = false;       // the first member computes it; the others have zeros
  // A Reduce of 16-bit floats: each member combines its part in f32, and so do all of them at once, as one device
  // would.
  bool is_wide = false;
  double bytes = 0;  // that its operands send
};

// Whether it gives results that the members have to combine.
inline bool combines(const Choice& choice) { return choice.is_wide || choice.results[0].is_partial; }

// A node with what is known of its operands.
class NodeForms {
 public:
  // `operands`: the forms that they are in.
  NodeForms(const ir::Program& program, const ir::Node& node, std::vector<const Form*> operands, int members);

  const ir::Factors& factors() const { return factors_; }
  std::size_t operand_count() const { return types_.size(); }
  const ir::TensorType& type(std::size_t operand) const { return *types_[operand]; }
  const ir::TensorType& result_type(std::size_t k) const { return *result_types_[k]; }
  const Form& form(std::size_t operand) const { return *forms_[operand]; }
  bool has_split() const;
  bool has_partial() const;

  // Everything whole on each member.
  Choice whole() const;
  // By the first member.
  Choice alone() const;
  // Split along a factor, by bounds over the factor's size; nothing where the op cannot be computed so.
  std::optional<Choice> along(std::size_t factor, const Bounds& bounds) const;
  // As `along`, of the factor that is outermost in a dim of an operand or of the first result, for a split of that dim.
  std::optional<Choice> along_operand(std::size_t operand, const Layout& split) const;
  std::optional<Choice> along_result(const Layout& split) const;
  // Results that have yet to be combined from operands that have: where the op is linear in these, and it does not make
  // them larger. `is_zero`: per operand.
  std::optional<Choice> linear(const std::vector<bool>& is_zero) const;

 private:
  void add_bytes(Choice& choice) const;
  // Whether the op can be computed by members that have nothing of it.
  bool takes_empty_parts(const Choice& choice, const Bounds& bounds) const;

  const ir::Node& node_;
  std::vector<const ir::TensorType*> types_, result_types_;
  std::vector<const Form*> forms_;
  ir::Factors factors_;
  int members_;
};

// Whether a member would choose from no elements: Reduce{max} of an empty part, which is the identity of its function.
bool chooses_from_nothing(const ir::Op& op, const ir::TensorType& operand);

// The op with the attributes that a member's part needs, given the type of its first result. `results`: the form of
// that. Requires: the node's choice was made by NodeForms.
ir::Op op_of_member(const ir::Op& op, const ir::TensorType& result, const Form& form, int member);

}  // namespace burn::compile::partition
