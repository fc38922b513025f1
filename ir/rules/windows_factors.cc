// Factors of ops over windows of images. Spatial dims are whole: a window reads beyond the border of a part.
#include "ir/factors.h"

namespace burn::ir::factor_rules {
namespace {

constexpr std::string_view kByPlane = "n c !... -> n c !...";

}  // namespace

// With groups each channel depends only on the channels of its group, so dims of channels are whole.
std::string_view text(const Conv& op) {
  return op.groups == 1 ? "n c !..., o c !... -> n o !..." : "n !..., !... -> n !...";
}
Factors factors(const Conv& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0}), linear_in({1})});
}

std::string_view text(const ConvInputGrad& op) {
  return op.groups == 1 ? "n o !..., o c !... -> n c !..." : "n !..., !... -> n !...";
}
Factors factors(const ConvInputGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0}), linear_in({1})});
}

std::string_view text(const ConvWeightGrad& op) {
  return op.groups == 1 ? "n c !..., n o !... -> o c !..." : "n !..., n !... -> !...";
}
Factors factors(const ConvWeightGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0}), linear_in({1})});
}

std::string_view text(const AvgPool&) { return kByPlane; }
Factors factors(const AvgPool& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

std::string_view text(const AvgPoolGrad&) { return kByPlane; }
Factors factors(const AvgPoolGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

std::string_view text(const MaxPool&) { return "n c !... -> n c !..., n c !..."; }
Factors factors(const MaxPool& op, Types operands, Types results) { return read(text(op), operands, results); }

std::string_view text(const AdaptiveAvgPool&) { return kByPlane; }
Factors factors(const AdaptiveAvgPool& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

std::string_view text(const AdaptiveAvgPoolGrad&) { return kByPlane; }
Factors factors(const AdaptiveAvgPoolGrad& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0})});
}

std::string_view text(const AdaptiveMaxPool&) { return "n c !... -> n c !..., n c !..."; }
Factors factors(const AdaptiveMaxPool& op, Types operands, Types results) { return read(text(op), operands, results); }

}  // namespace burn::ir::factor_rules
