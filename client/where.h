// Where the user called: every tensor function takes it as a defaulted last argument, for errors that name the line.
#pragma once

#include <source_location>

#include "client/scalar.h"
#include "ir/program.h"

namespace burn {

using Loc = std::source_location;

// The IR's form of it; the names live as long as the process.
inline ir::CallSite at(const Loc& where) { return {where.file_name(), where.line()}; }
// With the name of what the user called, a literal: errors name it in place of the op that it is made of.
inline ir::CallSite at(const Loc& where, const char* called) { return {where.file_name(), where.line(), called}; }

namespace detail {
// Whether `Other` is a tensor that cannot stand where a T is asked for: one of another rank or kind.
template <typename T, typename Other>
constexpr bool kIsUnfit = false;
}  // namespace detail

// An operand of an operator together with where it stands: operators take no defaulted arguments, but converting one
// does.
template <typename T>
struct Located {
  Located(const T& operand, Loc location = Loc::current()) : value(operand), where(location) {}  // NOLINT: implicit
  // Does not compile, and says why: see Tensor::unfit.
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
