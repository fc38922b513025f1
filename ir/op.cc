#include "ir/op.h"

#include <fmt/format.h>

#include "ir/attr_visit.h"

namespace burn::ir {
namespace {

template <typename Kind>
std::string op_text(const Kind& kind) {
  std::string text;
  for_each_attr(kind, [&](std::string_view attr, const auto& field) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", attr, attr_text(field));
  });
  return text.empty() ? std::string{Kind::kName} : fmt::format("{}({})", Kind::kName, text);
}

std::string op_text(const Pointwise& op) { return std::string{name(op.fn)}; }

std::string op_text(const Constant& op) {  // only the field that the dtype uses
  const auto value = is_floating(op.dtype) ? attr_text(op.real) : attr_text(op.number);
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

int result_count(const Op& op) {
  return std::visit([](const auto& kind) { return result_count<std::remove_cvref_t<decltype(kind)>>(); }, op);
}

bool has_effect(const Op& op) {
  static constexpr bool kEffects[] = {// a table, as it is read for every node recorded
#define OP(type) has_effect<type>(),
                                      BURN_OPS(OP)
#undef OP
  };
  return kEffects[op.index()];
}

bool is_collective(const Op& op) {
  return std::holds_alternative<AllReduce>(op) || std::holds_alternative<ReduceScatter>(op) ||
         std::holds_alternative<AllGather>(op) || std::holds_alternative<AllToAll>(op);
}

bool may_fail(const Op& op) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return std::is_same_v<Kind, Gather> || std::is_same_v<Kind, Scatter> || std::is_same_v<Kind, Cholesky> ||
               std::is_same_v<Kind, Lu> || std::is_same_v<Kind, Qr> || std::is_same_v<Kind, Svd> ||
               std::is_same_v<Kind, Eigh> || std::is_same_v<Kind, Solve> || std::is_same_v<Kind, SolveTriangular> ||
               std::is_same_v<Kind, Det>;
      },
      op);
}

std::string to_string(const Op& op) {
  return std::visit([](const auto& kind) { return op_text(kind); }, op);
}

}  // namespace burn::ir
