// The rows of pointwise.def as types: ir::prelude::add_row::value(a, b), always inlined into the calling loop.
#pragma once

#include "base/half.h"
#include "ir/semantics/prelude.h"

namespace burn::ir::prelude {

// The literals of a formula are floats: arithmetic of T with them stays T, or in double where T is double.
#define P1(name, forms, kind, expression, ...)             \
  struct name##_row {                                      \
    template <typename T>                                  \
    [[gnu::always_inline]] static inline auto value(T x) { \
      return expression;                                   \
    }                                                      \
  };
#define P2(name, method, kind, expression, ...)                 \
  struct name##_row {                                           \
    template <typename T>                                       \
    [[gnu::always_inline]] static inline auto value(T a, T b) { \
      return expression;                                        \
    }                                                           \
  };
#define P3(name, method, kind, expression, ...)                         \
  struct name##_row {                                                   \
    template <typename T>                                               \
    [[gnu::always_inline]] static inline auto value(bool a, T b, T c) { \
      return expression;                                                \
    }                                                                   \
  };
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3

}  // namespace burn::ir::prelude
