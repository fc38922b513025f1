#include "ir/op.h"

#include <bit>

#include <fmt/format.h>

#include "ir/attr_visit.h"
#include "ir/enums.h"

namespace burn::ir {
namespace {

template <typename Field>
std::string field_text(const Field& field) {
  if constexpr (std::is_enum_v<Field>)
    return std::string{name(field)};
  else if constexpr (std::is_same_v<Field, bool>)
    return field ? "true" : "false";
  else if constexpr (std::is_same_v<Field, Dims>)
    return to_string(field);
  else
    return std::to_string(field);
}

template <typename Kind>
std::string op_text(const Kind& kind) {
  std::string text;
  for_each_attr(kind, [&](std::string_view attr, const auto& field) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", attr, field_text(field));
  });
  return text.empty() ? std::string{Kind::kName} : fmt::format("{}({})", Kind::kName, text);
}

std::string op_text(const Pointwise& op) { return std::string{name(op.fn)}; }

std::string op_text(const Constant& op) {  // the number rather than its bits
  const auto value =
      is_floating(op.dtype) ? fmt::format("{}", std::bit_cast<double>(op.bits)) : std::to_string(op.bits);
  return fmt::format("constant(dtype={}, value={})", name(op.dtype), value);
}

}  // namespace

std::string_view name(const Op& op) {
  return std::visit(
      [](const auto& kind) -> std::string_view {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, Pointwise>)
          return name(kind.fn);
        else
          return Kind::kName;
      },
      op);
}

std::string to_string(const Op& op) {
  return std::visit([](const auto& kind) { return op_text(kind); }, op);
}

}  // namespace burn::ir
