// Selects a file's loop for a program, compiled for each instruction set: the tables of loops by function and by step
// are here; the including file supplies its loop for each.
#if defined(BURN_LOOP_CHOICE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_LOOP_CHOICE_INL_H
#undef BURN_LOOP_CHOICE_INL_H
#else
#define BURN_LOOP_CHOICE_INL_H
#endif

#include "backends/cpu/simd/float_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

// Calls found.operator()<Step>() for a step that adds, subtracts or multiplies; null for other functions.
template <typename Loop, typename Found>
Loop loop_by_step(ir::PointwiseFn fn, const Found& found) {
  switch (fn) {
    case ir::PointwiseFn::add:
      return found.template operator()<Add>();
    case ir::PointwiseFn::sub:
      return found.template operator()<Sub>();
    case ir::PointwiseFn::mul:
      return found.template operator()<Mul>();
    default:
      return nullptr;
  }
}

template <typename Loop, ir::PointwiseFn kFn, bool kIsThere, typename Found>
Loop loop_of_form(const Found& found) {
  if constexpr (kIsThere)
    return found.template operator()<VectorForm<kFn>>();
  else
    return nullptr;
}

// Calls found.operator()<VectorForm<fn>>() for a function of one operand whose forms (ir/ops/pointwise.def) include
// kForm; null for others.
template <typename Loop, int kForm, typename Found>
Loop loop_by_function(ir::PointwiseFn fn, const Found& found) {
  using namespace ir::forms;
  switch (fn) {
#define P1(name, forms, ...)  \
  case ir::PointwiseFn::name: \
    return loop_of_form<Loop, ir::PointwiseFn::name, ((forms)&kForm) != 0>(found);
#define P2(...)
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
    default:
      return nullptr;
  }
}

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
