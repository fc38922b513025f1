// The user's call site: every tensor function takes it as a defaulted last argument, so that errors name the line.
#pragma once

#include <source_location>

#include "client/scalar.h"
#include "ir/program.h"

namespace burn {

using Loc = std::source_location;

// Converts it to the IR's form; the file name lives as long as the process.
inline ir::CallSite at(const Loc& where) { return {where.file_name(), where.line()}; }
// The same with the name of the function that the user called, a literal: errors name it in place of the op.
inline ir::CallSite at(const Loc& where, const char* called) { return {where.file_name(), where.line(), called}; }

namespace detail {
// Whether `Other` is a tensor type that cannot be passed as a T: one of another rank or kind.
template <typename T, typename Other>
constexpr bool kIsUnfit = false;
}  // namespace detail

// An operand of an operator with its call site: operators have no defaulted arguments, but a converting constructor
// has.
template <typename T>
struct Located {
  Located(const T& operand, Loc location = Loc::current()) : value(operand), where(location) {}  // NOLINT: implicit
  // Does not compile, with a message that says why: see Tensor::unfit.
  template <typename Other>
    requires detail::kIsUnfit<T, Other>
  Located(const Other& operand, Loc location = Loc::current())  // NOLINT: implicit
      : value(T::unfit(operand)), where(location) {}
  const T& value;
  Loc where;
};

template <>
struct Located<Scalar> {
  template <Arithmetic T>
  Located(T operand, Loc location = Loc::current()) : value(operand), where(location) {}  // NOLINT: implicit
  Located(const Scalar& operand, Loc location = Loc::current())
      : value(operand), where(location) {}  // NOLINT: implicit
  Scalar value;
  Loc where;
};

}  // namespace burn
