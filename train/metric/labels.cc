#include "train/metric/labels.h"

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::metric {
namespace {

using client::Value;

[[noreturn]] void throw_unlike(const Value& output, const Value& targets, const char* expected) {
  throw Error(StatusCode::invalid_argument,
              fmt::format("output {} and targets {} do not belong together: targets are expected {}",
                          ir::to_string(output.type()), ir::to_string(targets.type()), expected));
}

Value to_bool(const Value& x) { return client::cast(x, ir::DType::bool_, client::current_site()); }

LabelledScores binary(const Value& output, const Value& targets) {
  const auto& site = client::current_site();
  const auto rows = output.dim(0);
  if (targets.type().num_elements() != rows) throw_unlike(output, targets, "as [batch] or [batch, 1]");
  auto scores = output;
  if (output.rank() == 2 && output.dim(1) == 2) scores = client::narrow(output, 1, 1, 1, site);
  if (scores.type().num_elements() != rows)
    throw Error(StatusCode::invalid_argument, fmt::format("binary: output {}, expected [batch], [batch, 1] or "
                                                          "[batch, 2]",
                                                          ir::to_string(output.type())));
  return {client::reshape(scores, {rows, 1}, site), to_bool(client::reshape(targets, {rows, 1}, site))};
}

LabelledScores multiclass(const Value& output, const Value& targets) {
  const auto& site = client::current_site();
  const auto scores = rows_of(output);
  const auto rows = scores.dim(0), classes = scores.dim(1);
  if (targets.shape() == output.shape()) return {scores, to_bool(client::reshape(targets, scores.shape(), site))};
  if (targets.rank() + 1 != output.rank() || targets.type().num_elements() != rows || !ir::is_integer(targets.dtype()))
    throw_unlike(output, targets, "as integers without the last dim, or with 1 at the class in the output's shape");
  return {scores, one_hot_mask(client::reshape(targets, {rows}, site), classes)};
}

LabelledScores multilabel(const Value& output, const Value& targets) {
  if (targets.shape() != output.shape()) throw_unlike(output, targets, "in the shape of the output");
  return {output, to_bool(targets)};
}

}  // namespace

std::vector<Need> needs_of(Task task) {
  std::vector<int> ranks{2};
  if (task == Task::binary) ranks = {1, 2};
  if (task == Task::multiclass) ranks = {2, 3};
  std::vector<int> target_ranks{2};
  if (task == Task::binary) target_ranks = {1, 2};
  if (task == Task::multiclass) target_ranks = {1, 2, 3};
  return {{"output", NeededKind::floating, ranks}, {"targets", NeededKind::integer_or_bool, target_ranks}};
}

LabelledScores labelled_scores(const StepOutput& output, Task task) {
  switch (task) {
    case Task::binary:
      return binary(output.output, output.targets);
    case Task::multiclass:
      return multiclass(output.output, output.targets);
    case Task::multilabel:
      break;
  }
  return multilabel(output.output, output.targets);
}

Value rows_of(const Value& x) {
  const auto classes = x.dim(-1);
  const auto rows = classes == 0 ? 0 : x.type().num_elements() / classes;
  return x.rank() == 2 ? x : client::reshape(x, {rows, classes}, client::current_site());
}

Value one_hot_mask(const Value& classes_of_rows, std::int64_t classes) {
  const auto& site = client::current_site();
  const auto all = client::arange(client::place_of(classes_of_rows), 0, classes, 1, ir::DType::i64, site);
  const auto known = client::known_classes(client::cast(classes_of_rows, ir::DType::i64, site), all, site);
  return client::unsqueeze(known, {1}, site) == client::unsqueeze(all, {0}, site);
}

namespace {

// Computes the rank of the class by counting the classes before it: pointwise ops and sums of rows, which are fused
// into the kernel of the loss if rows are short.
Value is_among_highest_by_counting(const Value& scores, const Value& target, std::int64_t k) {
  const auto& site = client::current_site();
  const auto in_rows = [&](const Value& x) { return client::expand(x, scores.shape(), site); };
  const auto count = [&](const Value& mask) {
    return client::reduce(ir::ReduceFn::sum, client::cast(mask, ir::DType::f32, site), {1}, site);  // [rows, 1]
  };
  const auto all = client::arange(client::place_of(scores), 0, scores.dim(1), 1, ir::DType::i64, site);
  const auto index = in_rows(client::unsqueeze(all, {0}, site)), at = in_rows(target);
  const auto is_target = index == at;
  const auto score =
      in_rows(client::reduce(ir::ReduceFn::sum, select(is_target, scores, zeros_like(scores)), {1}, site));
  // NaN comes before all numbers, as in top_k. NOLINTNEXTLINE(misc-redundant-expression): false for NaN
  const auto is_number = scores == scores, has_number = score == score;
  const auto is_higher = bool_or(scores > score, bool_and(has_number, bool_not(is_number)));
  const auto is_equal = bool_or(scores == score, bool_not(bool_or(is_number, has_number)));
  const auto is_before = bool_or(is_higher, bool_and(is_equal, index < at));
  return bool_and(count(is_before) < static_cast<double>(k), count(is_target) > 0.0);
}

}  // namespace

Value is_among_highest(const Value& scores, const Value& classes_of_rows, std::int64_t k) {
  constexpr std::int64_t kShortRow = 128;
  const auto& site = client::current_site();
  const auto rows = scores.dim(0);
  const auto target = client::reshape(client::cast(classes_of_rows, ir::DType::i64, site), {rows, 1}, site);
  if (ir::is_floating(scores.dtype()) && scores.dim(1) <= kShortRow)
    return is_among_highest_by_counting(scores, target, k);
  const auto chosen =
      k == 1 ? client::arg_reduce(ir::ArgFn::max, scores, 1, site) : client::top_k(scores, 1, k, true, site).indices;
  const auto is_right = client::cast(chosen, ir::DType::i64, site) == target;
  return client::reduce(ir::ReduceFn::max, is_right, {1}, site);
}

Value histogram(const Value& places, const Value& weights, std::int64_t bins) {
  const auto& site = client::current_site();
  const auto zeros = client::filled(client::place_of(places), {bins}, 0, ir::DType::f32, site);
  return client::select_assign(zeros, 0, places, weights, ir::ScatterFn::add, site);
}

Value count_true(const Value& mask) {
  const auto& site = client::current_site();
  return client::reduce(ir::ReduceFn::sum, client::cast(mask, ir::DType::f32, site), {0}, site);
}

}  // namespace burn::metric
