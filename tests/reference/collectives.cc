// Ops that the members of a group perform together. An interpreter of one program has no other members.
#include <stdexcept>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

[[noreturn]] void refuse(std::string_view op) { throw std::logic_error(std::string{op} + " needs a group"); }

}  // namespace

Tensor evaluate(const ir::AllReduce& op, const ir::TensorType&, Operands, const Bindings&) { refuse(op.kName); }
Tensor evaluate(const ir::ReduceScatter& op, const ir::TensorType&, Operands, const Bindings&) { refuse(op.kName); }
Tensor evaluate(const ir::AllGather& op, const ir::TensorType&, Operands, const Bindings&) { refuse(op.kName); }
Tensor evaluate(const ir::AllToAll& op, const ir::TensorType&, Operands, const Bindings&) { refuse(op.kName); }

}  // namespace burn::reference::rules
