// Ops that the members of a group perform together. An interpreter of one program is a group of one member: all parts
// of a value are its own.
#include <stdexcept>

#include "tests/reference/interpreter.h"

namespace burn::reference::rules {
namespace {

Tensor of_one_member(std::string_view op, const ir::TensorType& type, Operands in) {
  if (in[0]->type != type) throw std::logic_error(std::string{op} + " of more than one member");
  return *in[0];
}

}  // namespace

Tensor evaluate(const ir::AllReduce& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return of_one_member(op.kName, type, in);
}
Tensor evaluate(const ir::ReduceScatter& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return of_one_member(op.kName, type, in);
}
Tensor evaluate(const ir::AllGather& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return of_one_member(op.kName, type, in);
}
Tensor evaluate(const ir::AllToAll& op, const ir::TensorType& type, Operands in, const Bindings&) {
  return of_one_member(op.kName, type, in);
}

}  // namespace burn::reference::rules
