#include "client/tensor/found.h"

#include <algorithm>
#include <bit>

#include "client/fail.h"
#include "client/record/device_state.h"
#include "client/tensor/functions.h"
#include "client/tensor/untyped.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

constexpr std::int64_t kMinRoom = 16;  // counts up to this share one program

struct Counted {
  std::int64_t count;
  Value places;  // i64 [count, rounded up]
};

Counted wait_for(Found& found) {
  const auto count = found.count.get().as_slice<std::int64_t>()[0];
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  const auto room = std::min(std::max(rounded, kMinRoom), found.order.dim(0));
  return {count, narrow(found.order, 0, 0, room, found.site)};
}

// The first `count` rows, sliced by a program of its own, so that the program that computes x does not depend on the
// count.
Value first(const Value& x, std::int64_t count, const Site& site) {
  x.device()->flush();
  return narrow(x, 0, 0, count, site);
}

// The coordinate along dim `i` of row-major positions.
Value coordinate(const Value& places, const ir::Shape& shape, int i, const Site& site) {
  const auto number = [&](std::int64_t value) { return constant(place_of(places), value, ir::DType::i64, site); };
  std::int64_t stride = 1;
  for (int k = i + 1; k < shape.rank(); ++k) stride *= shape[k];
  const Value along = stride == 1 ? places : pointwise(Fn::div, places, number(stride), site);
  return i == 0 ? along : pointwise(Fn::remainder, along, number(shape[i]), site);
}

// The coordinates along each dim, in order.
std::vector<Value> coordinates(const Value& places, const ir::Shape& shape, const Site& site) {
  std::vector<Value> columns;
  columns.reserve(static_cast<std::size_t>(shape.rank()));
  for (int i = 0; i < shape.rank(); ++i) columns.push_back(coordinate(places, shape, i, site));
  return columns;
}

Value nothing(const Found& found, const Value& like, const ir::Shape& shape) {
  return filled(place_of(like), shape, 0, like.dtype(), found.site);
}

}  // namespace

Found find(const Value& mask, const char* op, const Site& site) {
  fail_if_empty(mask, op, site);
  if (!ir::is_bool(mask.dtype())) fail(std::string{op} + ": " + ir::to_string(mask.type()) + " is no mask", site);
  const auto place = place_of(mask);
  const auto size = mask.type().num_elements();
  const auto positions = arange(place, 0, size, 1, ir::DType::i64, site);
  if (size == 0) return {mask.shape(), positions, {}, site};
  // A stable partition: positions where the mask is true first, then the others, each in their order. All targets are
  // distinct, so the result does not depend on the order in which the scatter writes.
  const Value there = reshape(mask, {size}, site);
  const Value ones = cast(there, ir::DType::i64, site);
  const Value count = reduce_all(ir::ReduceFn::sum, ones, site);
  const Value before = scan(ir::ReduceFn::sum, ones, 0, site);  // inclusive
  const Value front = pointwise(Fn::sub, before, constant(place, 1, ir::DType::i64, site), site);
  const Value back = pointwise(Fn::add, count, pointwise(Fn::sub, positions, before, site), site);
  const Value target = select(there, front, back, site);
  const Value zeros = filled(place, {size}, 0, ir::DType::i64, site);
  const Value order = scatter(zeros, 0, target, positions, ir::ScatterFn::assign, site);
  return {mask.shape(), order, to_data_async(count), site};
}

Value argwhere(Found found) {
  const int rank = found.shape.rank();
  if (!found.count.valid()) return nothing(found, found.order, {0, rank});
  const auto [count, places] = wait_for(found);
  return first(stack(coordinates(places, found.shape, found.site), 1, found.site), count, found.site);
}

std::vector<Value> nonzero(Found found) {
  const int rank = found.shape.rank();
  if (!found.count.valid()) return std::vector(static_cast<std::size_t>(rank), nothing(found, found.order, {0}));
  const auto [count, places] = wait_for(found);
  auto columns = coordinates(places, found.shape, found.site);
  for (auto& column : columns) column = first(column, count, found.site);
  return columns;
}

Value mask_select(const Value& x, Found found) {
  const auto size = x.type().num_elements();
  if (!found.count.valid()) return reshape(x, {0}, found.site);
  const auto [count, places] = wait_for(found);
  return first(select_rows(reshape(x, {size}, found.site), 0, places, found.site), count, found.site);
}

Value mask_over(const Value& mask, const Value& x, const Site& site) {
  fail_if_empty(x, "mask_select", site);
  fail_if_empty(mask, "mask_select: the mask", site);
  bool fits = mask.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = mask.dim(i) == x.dim(i) || mask.dim(i) == 1;
  if (!fits) {
    fail("mask_select: a mask " + ir::to_string(mask.type()) + " for " + ir::to_string(x.type()), site);
  }
  return expand(mask, x.shape(), site);
}

// Sorts the boxes by score, then applies ir::Nms; boxes below the score threshold become empty, so that they overlap
// none.
Value nms(const Value& boxes, const Value& scores, const vision::NmsOptions& options, const Site& site) {
  fail_if_empty(boxes, "nms", site);
  fail_if_empty(scores, "nms: scores", site);
  const bool fits = boxes.rank() == 2 && boxes.dim(1) == 4 && scores.rank() == 1 && boxes.dim(0) == scores.dim(0);
  if (!fits) {
    fail("nms: takes boxes [n, 4] and scores [n], got " + ir::to_string(boxes.type()) + " and " +
             ir::to_string(scores.type()),
         site);
  }
  if (options.max_output_boxes < 0)
    fail("nms: max_output_boxes is " + std::to_string(options.max_output_boxes) + ", must be 0 (all) or more", site);
  const auto [sorted, order] = sort(scores.detach(), 0, true, site);
  const Value limit = scalar(place_of(sorted), options.score_threshold, sorted.dtype(), site);
  const Value counts = pointwise(Fn::greater_equal, sorted, limit, site);  // false for NaN
  const Value candidates = select_rows(boxes.detach(), 0, order, site);
  const Value mask = expand(reshape(counts, {boxes.dim(0), 1}, site), candidates.shape(), site);
  const Value none = scalar(place_of(candidates), 0, candidates.dtype(), site);
  const Value kept = apply(ir::Nms{options.iou_threshold}, select(mask, candidates, none, site), site);
  Value best = mask_select(order, find(pointwise(Fn::bool_and, kept, counts, site), "nms", site));
  if (options.max_output_boxes == 0) return best;
  return narrow(best, 0, 0, std::min(options.max_output_boxes, best.dim(0)), site);
}

}  // namespace burn::client
