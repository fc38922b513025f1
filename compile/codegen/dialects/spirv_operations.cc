#include "compile/codegen/dialects/spirv_operations.h"

#include <bit>
#include <cstdint>

#include "base/error.h"

namespace burn::compile::spirv {

using kernel::Code;

Op operation(Code code, ir::DType type) {
  const bool is_float = ir::is_floating(type), has_sign = kernel::is_signed(type), is_bool = ir::is_bool(type);
  switch (code) {
    case Code::add:
      return is_float ? Op::FAdd : Op::IAdd;
    case Code::sub:
      return is_float ? Op::FSub : Op::ISub;
    case Code::mul:
      return is_float ? Op::FMul : Op::IMul;
    case Code::div:
      return is_float ? Op::FDiv : has_sign ? Op::SDiv : Op::UDiv;
    case Code::rem:
      return Op::UMod;  // of a signed type: signed_remainder()
    case Code::neg:
      return is_float ? Op::FNegate : Op::SNegate;
    case Code::bit_and:
      return is_bool ? Op::LogicalAnd : Op::BitwiseAnd;
    case Code::bit_or:
      return is_bool ? Op::LogicalOr : Op::BitwiseOr;
    case Code::bit_xor:
      return is_bool ? Op::LogicalNotEqual : Op::BitwiseXor;
    case Code::bit_not:
      return is_bool ? Op::LogicalNot : Op::Not;
    case Code::shift_left:
      return Op::ShiftLeftLogical;
    case Code::shift_right:
      return has_sign ? Op::ShiftRightArithmetic : Op::ShiftRightLogical;
    case Code::less:
      return is_float ? Op::FOrdLessThan : has_sign ? Op::SLessThan : Op::ULessThan;
    case Code::less_equal:
      return is_float ? Op::FOrdLessThanEqual : has_sign ? Op::SLessThanEqual : Op::ULessThanEqual;
    case Code::equal:
      return is_float ? Op::FOrdEqual : is_bool ? Op::LogicalEqual : Op::IEqual;
    case Code::not_equal:
      return is_float ? Op::FUnordNotEqual : is_bool ? Op::LogicalNotEqual : Op::INotEqual;
    default:
      BURN_CHECK(false, "no arithmetic");
  }
  return Op::IAdd;
}

Function function(Code code) {
  switch (code) {
    case Code::floor:
      return Function::Floor;
    case Code::ceil:
      return Function::Ceil;
    case Code::round_even:
      return Function::RoundEven;
    case Code::trunc:
      return Function::Trunc;
    case Code::sqrt:
      return Function::Sqrt;
    case Code::exp2:
      return Function::Exp2;
    default:
      return Function::FAbs;
  }
}

Id signed_remainder(Module& module, Id type, Id a, Id b) {
  const Id whole = module.make(Op::IMul, type, {module.make(Op::SDiv, type, {a, b}), b});
  return module.make(Op::ISub, type, {a, whole});
}

Id round_even_f64(Module& module, Id x) {
  const Id type = module.type(ir::DType::f64), truth = module.type(ir::DType::bool_);
  const Id zero = module.constant(ir::DType::f64, 0);
  const Id whole_from = module.constant(ir::DType::f64, std::bit_cast<std::uint64_t>(0x1p52));
  const auto exactly = [&](Op op, Id a, Id b) {
    const Id result = module.make(op, type, {a, b});
    module.decorate(result, Decoration::NoContraction);
    return result;
  };
  const auto less = [&](Id a, Id b) { return module.make(Op::FOrdLessThan, truth, {a, b}); };
  const Id size = module.call(Function::FAbs, type, {x});
  const Id rounded = exactly(Op::FSub, exactly(Op::FAdd, size, whole_from), whole_from);
  const Id with_sign =
      module.make(Op::Select, type, {less(x, zero), module.make(Op::FNegate, type, {rounded}), rounded});
  // Zeros keep their sign and NaN stays NaN: both are given back as they are.
  const Id may_have_fraction = module.make(Op::LogicalAnd, truth, {less(zero, size), less(size, whole_from)});
  return module.make(Op::Select, type, {may_have_fraction, with_sign, x});
}

}  // namespace burn::compile::spirv
