// Names of the enumerators of attributes, as used on the wire, in printed text and in docs.
//
// The switches have no `default`, so that a missing enumerator does not compile, and return an empty name for values
// past the last enumerator, where parse_enum() stops.
#pragma once

#include <optional>
#include <string_view>

#include "ir/ops.h"

namespace burn::ir {

constexpr std::string_view name(ReduceFn fn) {
  switch (fn) {
    case ReduceFn::sum:
      return "sum";
    case ReduceFn::prod:
      return "prod";
    case ReduceFn::max:
      return "max";
    case ReduceFn::min:
      return "min";
  }
  return {};
}

constexpr std::string_view name(ArgFn fn) {
  switch (fn) {
    case ArgFn::max:
      return "max";
    case ArgFn::min:
      return "min";
  }
  return {};
}

constexpr std::string_view name(ScatterFn fn) {
  switch (fn) {
    case ScatterFn::assign:
      return "assign";
    case ScatterFn::add:
      return "add";
    case ScatterFn::mul:
      return "mul";
    case ScatterFn::max:
      return "max";
    case ScatterFn::min:
      return "min";
  }
  return {};
}

constexpr std::string_view name(MeshAxis axis) {
  switch (axis) {
    case MeshAxis::data:
      return "data";
    case MeshAxis::model:
      return "model";
  }
  return {};
}

constexpr std::string_view name(RandomFn fn) {
  switch (fn) {
    case RandomFn::uniform:
      return "uniform";
    case RandomFn::normal:
      return "normal";
    case RandomFn::bits:
      return "bits";
  }
  return {};
}

constexpr std::string_view name(Semiring semiring) {
  switch (semiring) {
    case Semiring::linear:
      return "linear";
    case Semiring::log:
      return "log";
  }
  return {};
}

constexpr std::string_view name(InterpolateMode mode) {
  switch (mode) {
    case InterpolateMode::nearest:
      return "nearest";
    case InterpolateMode::nearest_exact:
      return "nearest_exact";
    case InterpolateMode::bilinear:
      return "bilinear";
    case InterpolateMode::bicubic:
      return "bicubic";
    case InterpolateMode::lanczos3:
      return "lanczos3";
  }
  return {};
}

// Returns the enumerator of that name; std::nullopt if there is none.
template <typename Enum>
std::optional<Enum> parse_enum(std::string_view text) {
  if constexpr (std::is_same_v<Enum, DType>) {
    return parse_dtype(text);
  } else if constexpr (std::is_same_v<Enum, PointwiseFn>) {
    return parse_pointwise(text);
  } else {
    for (int i = 0; !name(static_cast<Enum>(i)).empty(); ++i) {
      if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }
}

}  // namespace burn::ir
