// Loops of the pointwise functions over one run of elements.
//
// Results are written contiguously and may lie exactly over an operand; operands have a stride in elements, 0 for a
// repeated one. `bool` is read as a byte: a client may have sent other bytes than 0 and 1.
//
// The including file says which classes it compiles: constexpr bool compiled_here(ir::PointwiseClass).
namespace burn::backends::cpu::BURN_ISA {
namespace {

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;

template <typename T>
[[gnu::always_inline]] inline T load(const Stored<T>* x) {
  if constexpr (std::is_same_v<T, bool>)
    return *x != 0;
  else
    return *x;
}

// T: the type of the operands, Y: that of the result.
template <typename Row, typename T, typename Y>
void unary_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<Stored<Y>*>(result);
  const auto* x = static_cast<const Stored<T>*>(operands[0]);
  if (strides[0] == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(Row::template value<T>(load<T>(x + i)));
  } else {
    const std::int64_t step = strides[0];
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(Row::template value<T>(load<T>(x + i * step)));
  }
}

template <typename Row, typename T, typename Y>
void binary_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<Stored<Y>*>(result);
  const auto* a = static_cast<const Stored<T>*>(operands[0]);
  const auto* b = static_cast<const Stored<T>*>(operands[1]);
  const std::int64_t step_a = strides[0], step_b = strides[1];
  if (step_a == 1 && step_b == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<Y>(Row::template value<T>(load<T>(a + i), load<T>(b + i)));
    }
  } else if (step_a == 1 && step_b == 0) {
    const T scalar = load<T>(b);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(Row::template value<T>(load<T>(a + i), scalar));
  } else if (step_a == 0 && step_b == 1) {
    const T scalar = load<T>(a);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<Y>(Row::template value<T>(scalar, load<T>(b + i)));
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<Y>(Row::template value<T>(load<T>(a + i * step_a), load<T>(b + i * step_b)));
    }
  }
}

// b and c are only copied, so T is any type of the right size.
template <typename Row, typename T>
void choose_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<T*>(result);
  const auto* a = static_cast<const unsigned char*>(operands[0]);
  const auto* b = static_cast<const T*>(operands[1]);
  const auto* c = static_cast<const T*>(operands[2]);
  const std::int64_t step_a = strides[0], step_b = strides[1], step_c = strides[2];
  const auto loop = [&](auto get_a, auto get_b, auto get_c) __attribute__((always_inline)) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = Row::template value<T>(get_a(i), get_b(i), get_c(i));
  };
  const auto flags = [&](std::int64_t i) __attribute__((always_inline)) { return a[i] != 0; };
  const auto each_b = [&](std::int64_t i) __attribute__((always_inline)) { return b[i]; };
  const auto each_c = [&](std::int64_t i) __attribute__((always_inline)) { return c[i]; };
  const auto one_b = [value = *b](std::int64_t) __attribute__((always_inline)) { return value; };
  const auto one_c = [value = *c](std::int64_t) __attribute__((always_inline)) { return value; };
  if (step_a == 1 && step_b == 1 && step_c == 1) return loop(flags, each_b, each_c);
  if (step_a == 1 && step_b == 1 && step_c == 0) return loop(flags, each_b, one_c);
  if (step_a == 1 && step_b == 0 && step_c == 1) return loop(flags, one_b, each_c);
  if (step_a == 1 && step_b == 0 && step_c == 0) return loop(flags, one_b, one_c);
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = Row::template value<T>(a[i * step_a] != 0, b[i * step_b], c[i * step_c]);
  }
}

template <int kArity, typename Row, ir::PointwiseClass kClass>
RunLoop pick_loop(ir::DType dtype) {
  if constexpr (!compiled_here(kClass)) {
    return nullptr;
  } else {
    return ir::dispatch(dtype, []<typename T>() -> RunLoop {
      if constexpr (!takes<T>(kClass))
        return nullptr;
      else if constexpr (kArity == 1)
        return &unary_run<Row, T, PointwiseResult<kClass, T>>;
      else if constexpr (kArity == 2)
        return &binary_run<Row, T, PointwiseResult<kClass, T>>;
      else
        return &choose_run<Row, T>;
    });
  }
}

// Null where this file has no loop for the function or the dtype.
RunLoop find_loop(ir::PointwiseFn fn, ir::DType dtype) {
  switch (fn) {
#define P1(name, forms, kind, ...) \
  case ir::PointwiseFn::name:      \
    return pick_loop<1, ir::prelude::name##_row, ir::PointwiseClass::kind>(dtype);
#define P2(name, method, kind, ...) \
  case ir::PointwiseFn::name:       \
    return pick_loop<2, ir::prelude::name##_row, ir::PointwiseClass::kind>(dtype);
#define P3(name, method, kind, ...) \
  case ir::PointwiseFn::name:       \
    return pick_loop<3, ir::prelude::name##_row, ir::PointwiseClass::kind>(dtype);
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
  }
  return nullptr;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
