// The parts of a group's kernel that are the same for every kind of walk: functions, values, parameters.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compile/codegen/group_plan.h"

namespace burn::compile {

// Writes what members compute as C++ expressions over the names of values, and gathers the parameters that those need.
class GroupPrinter {
 public:
  explicit GroupPrinter(const GroupPlan& plan);

  const GroupPlan& plan() const { return plan_; }
  // "x3" for what is read, "v7" for what a member computes: variables of the compute type.
  std::string name(ir::Ref ref) const;
  // "const float v7 = mul(v5, x3);", for a member that is no reduction and no gather. `position`: of the element in the
  // domain, an expression of type std::uint64_t. `coarse`: by the shorter formula (accuracy.h).
  std::string statement(const Member& member, const std::string& position, bool coarse = false);

  // "const burn::cuda::Divisor d_x3(x3);", for a number that all elements of a row, or all there are, are divided by
  // and that has been declared; else nothing. Statements that follow make use of it. `is_of_row`: read as one per
  // element, of which a row has the same.
  std::string divisor(ir::Ref ref, bool is_of_row = false);

  // Adds a parameter to the kernel and returns its name.
  std::string parameter(const std::string& type, const std::string& name, Argument argument);
  std::string bindings();  // the parameter with seed, offset and scalars

  // The functions that statements use, before the kernel; the list of parameters; and the arguments for them.
  std::string functions() const;
  std::string parameters() const;
  std::vector<BlockKernel::Parameter> take_parameters() { return std::move(parameters_); }
  std::vector<Argument> take_arguments() { return std::move(arguments_); }

 private:
  ir::Ref unexpanded(ir::Ref ref) const;  // what a member repeats
  bool is_read(ir::Ref value) const;      // by a member; a result that is not is rounded where it is written
  std::string random(const ir::Random& op, const std::string& position, int index);

  const GroupPlan& plan_;
  std::set<ir::PointwiseFn> functions_;
  std::set<std::string> divisors_;  // names that have been declared
  std::vector<BlockKernel::Parameter> parameters_;
  std::vector<Argument> arguments_;
  bool has_bindings_ = false, is_coarse_ = false;
};

// "const float x3 = ...;" of a read: its element of this expression.
std::string stored_read(const GroupPrinter& printer, std::size_t read, const std::string& element);
// The same of a read that counts: its element `j` after the one at an offset that is not negative. An
// Iota of f32 has no number that f32 has not.
std::string counted_read(const GroupPrinter& printer, std::size_t read, const std::string& offset,
                         const std::string& j);

// The statements of members with a number for each element, of those that compute these nodes; `coarse`: the nodes
// whose statements are by the shorter formula.
std::string element_statements(GroupPrinter& printer, const std::set<std::int32_t>& nodes, const std::string& position,
                               const std::set<std::int32_t>& coarse);

// "x3" is declared from the parameters of constants and scalars: the lines for all of those that a group reads.
std::string scalar_reads(GroupPrinter& printer);

}  // namespace burn::compile
