// Where the user called: every tensor function takes it as a defaulted last argument, for errors that name the line.
#pragma once

#include <source_location>

#include "client/scalar.h"
#include "ir/program.h"

namespace burn {

// Eight bytes; becomes the IR's call site when a node is written.
class Where {
 public:
  Where(std::source_location location = std::source_location::current()) : location_(location) {}  // NOLINT: implicit
  operator ir::CallSite() const { return {location_.file_name(), location_.line()}; }              // NOLINT: implicit

 private:
  std::source_location location_;
};

// An operand of an operator together with where it stands: operators take no defaulted arguments, but converting one does.
template <typename T>
struct Located {
  Located(const T& operand, std::source_location location = std::source_location::current())  // NOLINT: implicit
      : value(operand), where(location) {}
  const T& value;
  Where where;
};

template <>
struct Located<Scalar> {
  template <Arithmetic T>
  Located(T operand, std::source_location location = std::source_location::current())  // NOLINT: implicit
      : value(operand), where(location) {}
  Scalar value;
  Where where;
};

}  // namespace burn
