// Non-maximum suppression: boxes on a grid of whole numbers, so that every device computes their areas exactly, and
// thresholds that no ratio of such areas is next to.
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "tests/ops/op_case.h"
#include "tests/ops/sample_builder.h"

namespace burn::reference::rules {

// The definition: in order, a box is kept unless a box kept before overlaps it too much.
Tensor evaluate(const ir::Nms& op, const ir::TensorType& type, Operands in, const Bindings&) {
  const Tensor& boxes = *in[0];
  Tensor kept(type);
  const auto n = type.shape[type.shape.rank() - 1];
  const auto side = [&](std::int64_t box, int k) { return boxes.get<double>(static_cast<std::size_t>(box * 4 + k)); };
  const auto area = [&](std::int64_t box) { return (side(box, 2) - side(box, 0)) * (side(box, 3) - side(box, 1)); };
  const auto overlap = [&](std::int64_t a, std::int64_t b) {
    for (const auto box : {a, b}) {
      if (std::isnan(area(box))) return 0.0;
    }
    const double width = std::min(side(a, 2), side(b, 2)) - std::max(side(a, 0), side(b, 0));
    const double height = std::min(side(a, 3), side(b, 3)) - std::max(side(a, 1), side(b, 1));
    const double both = std::max(width, 0.0) * std::max(height, 0.0);
    return both / (area(a) + area(b) - both);
  };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kept.size()); ++i) {
    bool stays = true;
    for (auto j = i / n * n; j < i; ++j) {
      if (kept.get<bool>(static_cast<std::size_t>(j)) && overlap(j, i) > op.iou_threshold) stays = false;
    }
    kept.set(static_cast<std::size_t>(i), stays);
  }
  return kept;
}

}  // namespace burn::reference::rules

namespace burn::testing {
namespace {

using ir::DType;

constexpr auto f32 = DType::f32;

// Boxes with corners in 0 .. grid; some are empty, some the same as the one before, some have NaN.
reference::Tensor boxes_on_grid(const ir::TensorType& type, int grid, bool has_nan) {
  std::mt19937 random(static_cast<unsigned>(type.num_elements()) + static_cast<unsigned>(grid));
  const auto draw = [&] { return static_cast<double>(random() % static_cast<unsigned>(grid + 1)); };
  reference::Tensor boxes(type);
  for (std::size_t i = 0; i + 3 < boxes.size(); i += 4) {
    const double a = draw(), b = draw(), c = draw(), d = draw();
    const bool again = i > 0 && random() % 8 == 0;
    const double sides[] = {std::min(a, b), std::min(c, d), std::max(a, b), std::max(c, d)};
    for (std::size_t k = 0; k < 4; ++k) boxes.set(i + k, again ? boxes.get<double>(i - 4 + k) : sides[k]);
    if (has_nan && random() % 5 == 0) boxes.set(i + random() % 4, std::nan(""));
  }
  return boxes;
}

std::vector<Sample> nms_samples() {
  struct Shape {
    ir::Shape boxes;
    int grid;
  };
  // None, one, more than a tile of any device and not a multiple of one, several lists, a grid on which few stay.
  const Shape shapes[] = {{{0, 4}, 4}, {{1, 4}, 4}, {{7, 4}, 5}, {{3, 40, 4}, 12}, {{2, 2, 65, 4}, 16}, {{600, 4}, 60}};
  std::vector<Sample> all;
  for (const auto dtype : kFloats) {
    for (const auto& [shape, grid] : shapes) {
      for (const double threshold : {0.0, 0.3137, 0.7131, 1.0}) {
        const bool has_nan = threshold == 0.3137;
        SampleBuilder sample(fmt::format("{} {} above {}", name(dtype), to_string(shape), threshold));
        const auto boxes = sample.input(boxes_on_grid({dtype, shape}, grid, has_nan));
        all.push_back(sample.finish({sample.add(ir::Nms{threshold}, {boxes})}));
      }
    }
    // Boxes that do not lie behind each other, all of which overlap: [4, n] and every second one of a list.
    SampleBuilder across(fmt::format("{} transposed", name(dtype)));
    const auto columns = across.input(boxes_on_grid({dtype, {4, 30}}, 3, false));
    all.push_back(across.finish({across.add(ir::Nms{0.4321}, {across.add(ir::Permute{{1, 0}}, {columns})})}));
    SampleBuilder strided(fmt::format("{} strided", name(dtype)));
    const auto list = strided.input(boxes_on_grid({dtype, {80, 4}}, 8, false));
    const auto half = strided.add(ir::Slice{{78, 0}, {40, 4}, {-2, 1}}, {list});
    all.push_back(strided.finish({strided.add(ir::Nms{0.4321}, {half})}));
  }
  return all;
}

// So many that none overlaps another: all are compared with all.
std::vector<reference::Tensor> boxes_apart() {
  constexpr std::int64_t kBoxes = 1 << 19, kPerRow = 1024;
  reference::Tensor boxes({f32, {kBoxes, 4}});
  for (std::int64_t i = 0; i < kBoxes; ++i) {
    const auto row = i / kPerRow, column = i % kPerRow;
    const auto x = static_cast<double>(2 * column), y = static_cast<double>(2 * row);
    std::size_t at = static_cast<std::size_t>(i) * 4;
    for (const double side : {x, y, x + 1, y + 1}) boxes.set(at++, side);
  }
  return {std::move(boxes)};
}

}  // namespace

OpCase nms_case() {
  const ir::TensorType boxes{f32, {2, 5, 4}};
  return {
      .op = "nms",
      .uses =
          {
              {ir::Nms{0.3}, {boxes}, {{DType::bool_, {2, 5}}}},
              {ir::Nms{1}, {{DType::f16, {0, 4}}}, {{DType::bool_, {0}}}},
          },
      .refusals =
          {
              // nms C1
              {ir::Nms{}, {{f32, {5, 3}}}, "nms: takes boxes of floats [..., n, 4], got f32[5, 3]"},
              {ir::Nms{}, {{f32, {4}}}, "nms: takes boxes of floats [..., n, 4], got f32[4]"},
              {ir::Nms{}, {{DType::i64, {5, 4}}}, "nms: takes boxes of floats [..., n, 4], got i64[5, 4]"},
              // nms C2
              {ir::Nms{-0.1}, {boxes}, "nms: iou_threshold is -0.1, must be 0 to 1"},
              {ir::Nms{1.5}, {boxes}, "nms: iou_threshold is 1.5, must be 0 to 1"},
              {ir::Nms{std::nan("")}, {boxes}, "nms: iou_threshold is nan, must be 0 to 1"},
              {ir::Nms{}, {boxes, boxes}, "nms: takes 1 operand, got 2"},
          },
      .samples = nms_samples(),
      .slow = {ir::Nms{}, boxes_apart},
  };
}

}  // namespace burn::testing
