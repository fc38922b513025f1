// Dispatches from a run-time dtype to a C++ type, once, at the entry of a kernel:
//   dispatch(dtype, [&]<typename T>() { kernel<T>(...); });
// Include only from .cc files: each use instantiates its body 13 times.
#pragma once

#include "base/half.h"
#include "ir/types/dtype.h"

namespace burn::ir {

// The dtype that stores a C++ type.
template <typename T>
inline constexpr DType kDTypeOf = DType::f32;
#define DT(name, text, type, bytes, kind) \
  template <>                             \
  inline constexpr DType kDTypeOf<type> = DType::name;
#include "ir/types/dtype.def"
#undef DT

// Calls body.template operator()<T>() with the C++ type that stores `dtype`.
template <typename Body>
decltype(auto) dispatch(DType dtype, Body&& body) {
  switch (dtype) {
#define DT(name, text, type, bytes, kind) \
  case DType::name:                       \
    return body.template operator()<type>();
#include "ir/types/dtype.def"
#undef DT
  }
  __builtin_unreachable();  // decoders reject numbers outside the enum
}

// The type that arithmetic on T is done in: float for the 16-bit floats, otherwise T.
template <typename T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Half> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
template <typename T>
using compute_t = typename ComputeType<T>::type;

}  // namespace burn::ir
