#include "client/ops/sequence_loss.h"

#include <array>
#include <limits>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::client {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto i64 = ir::DType::i64;
using Fn = ir::PointwiseFn;

// 0, 1, 2, ... along dim `axis` of `rank`.
Value numbers(const Place& place, std::int64_t count, int axis, int rank, const Site& site) {
  ir::Shape shape = ir::Shape::filled(rank, 1);
  shape[axis] = count;
  return reshape(arange(place, 0, count, 1, i64, site), shape, site);
}

// The element at `index` [n] of each line along `axis`, which is removed. x's first dim is n.
Value element_at(const Value& x, int axis, const Value& index) {
  ir::Shape column = ir::Shape::filled(x.rank(), 1), picked = x.shape();
  column[0] = picked[0];
  picked[axis] = 1;
  const auto& site = current_site();
  const Value where = expand(reshape(index, column, site), picked, site);
  return squeeze(gather(x, axis, where, site), ir::Dims{axis}, site);
}

// log(e^a + e^b); -infinity with gradient 0 where both are -infinity.
Value log_sum(const Value& a, const Value& b) {
  const Value largest = max(a, b).detach();
  const Value shift = select(largest == -kInfinity, 0.0, largest);
  const Value sum = exp(a - shift) + exp(b - shift);
  return select(sum == 0.0, -kInfinity, log(select(sum == 0.0, 1.0, sum)) + shift);
}

// The arguments of both losses, checked and cast to the dtypes that they compute in: f64 for log_probs, as in f32 the
// error of a sum over thousands of steps, and of each term's share in it, would grow with their number.
struct Sequences {
  Value log_probs, targets, input_lengths, target_lengths;

  Sequences(const char* op, const Value& probs, const Value& labels, const Value& steps, const Value& lengths,
            std::int64_t batch, std::int64_t classes, std::int64_t blank, const Site& site)
      : log_probs(cast(probs, ir::DType::f64, site)),
        targets(cast(labels, i64, site)),
        input_lengths(cast(steps, i64, site)),
        target_lengths(cast(lengths, i64, site)) {
    const auto is_line = [&](const Value& v) {
      return v.rank() == 1 && v.dim(0) == batch && ir::is_integer(v.dtype());
    };
    if (!ir::is_floating(probs.dtype()) || labels.rank() != 2 || labels.dim(0) != batch ||
        !ir::is_integer(labels.dtype()) || !is_line(steps) || !is_line(lengths)) {
      fail(std::string{op} + ": " + ir::to_string(probs.type()) + ", targets " + ir::to_string(labels.type()) +
               ", lengths " + ir::to_string(steps.type()) + " and " + ir::to_string(lengths.type()) +
               " are not of one batch",
           site);
    }
    if (blank < 0 || blank >= classes) {
      fail(std::string{op} + ": the blank " + std::to_string(blank) + " is not one of " + std::to_string(classes) +
               " classes",
           site);
    }
    // Entries after the last label may have any value; they are read, but do not affect the loss.
    const Value inside =
        numbers(place_of(labels), labels.dim(1), 1, 2, site) < reshape(target_lengths, {batch, 1}, site);
    targets = select(inside, targets, literal(targets, static_cast<double>(blank)));
  }
};

void fail_if_any_empty(std::initializer_list<const Value*> all, const char* op, const Site& site) {
  for (const Value* x : all) fail_if_empty(*x, op, site);
}

}  // namespace

// States are the labels with blanks around each, [2 s + 1]: in each step a path stays in its state or advances by one,
// or by two if that skips a blank between different labels.
Value ctc_loss(const Value& log_probs, const Value& targets, const Value& input_lengths, const Value& target_lengths,
               std::int64_t blank, const Site& site) {
  fail_if_any_empty({&log_probs, &targets, &input_lengths, &target_lengths}, "ctc_loss", site);
  const SiteScope scope{site};
  if (log_probs.rank() != 3) fail("ctc_loss: " + ir::to_string(log_probs.type()) + " is not [t, n, c]", site);
  const auto steps = log_probs.dim(0), n = log_probs.dim(1);
  const Sequences in("ctc_loss", log_probs, targets, input_lengths, target_lengths, n, log_probs.dim(2), blank, site);
  const auto place = place_of(log_probs);
  const auto labels = in.targets.dim(1), width = 2 * labels + 1;
  const Value no_labels = in.target_lengths == 0.0;
  const Value no_steps_loss = select(no_labels, filled(place, {n}, 0, in.log_probs.dtype(), site),
                                     filled(place, {n}, kInfinity, in.log_probs.dtype(), site), site);
  if (steps == 0) return cast(no_steps_loss, log_probs.dtype(), site);

  const std::array pairs{filled(place, {n, labels}, blank, i64, site), in.targets};
  const std::array ends{reshape(stack(pairs, 2, site), {n, 2 * labels}, site), filled(place, {n, 1}, blank, i64, site)};
  const Value states = concat(ends, 1, site);  // [n, width]
  const Value index = expand(reshape(states, {n, 1, width}, site), {n, steps, width}, site);
  const Value emitted = gather(swap_dims(in.log_probs, 0, 1, site), 2, index, site);

  const std::pair<std::int64_t, std::int64_t> two_before[] = {{2, 0}};
  const Value before = narrow(pad(states, two_before, blank, site), 1, 0, width, site);
  const Value may_skip =
      bool_and(pointwise(Fn::not_equal, states, before, site), numbers(place, width, 1, 2, site) >= 2.0);
  const Value skips = expand(reshape(may_skip, {n, 1, width}, site), emitted.shape(), site);
  const std::array weights{emitted, emitted, select(skips, emitted, -kInfinity)};
  const Value begins = bool_and(numbers(place, steps, 1, 3, site) < 1.0, numbers(place, width, 2, 3, site) < 2.0);
  const Value first = select(expand(begins, emitted.shape(), site), emitted, -kInfinity);
  const Value paths = apply(ir::BandedScan{ir::Semiring::log}, first, stack(weights, 2, site), site);  // [n, t, width]

  const Value last = element_at(paths, 1, max(in.input_lengths - 1.0, 0.0));  // [n, width]
  const Value end = in.target_lengths * 2.0;
  const Value at_label = select(no_labels, -kInfinity, element_at(last, 1, max(end - 1.0, 0.0)));
  const Value loss = -log_sum(element_at(last, 1, end), at_label);
  return cast(select(in.input_lengths == 0.0, no_steps_loss, loss), log_probs.dtype(), site);
}

// A scan over the diagonals t + u = d: each element of a diagonal depends on two of the previous one, (t - 1, u) by a
// blank and (t, u - 1) by a label.
Value rnnt_loss(const Value& log_probs, const Value& targets, const Value& logit_lengths, const Value& target_lengths,
                std::int64_t blank, const Site& site) {
  fail_if_any_empty({&log_probs, &targets, &logit_lengths, &target_lengths}, "rnnt_loss", site);
  const SiteScope scope{site};
  if (log_probs.rank() != 4 || targets.rank() != 2 || log_probs.dim(1) < 1 || log_probs.dim(2) != targets.dim(1) + 1) {
    fail("rnnt_loss: " + ir::to_string(log_probs.type()) + " and targets " + ir::to_string(targets.type()) +
             " are not [n, t, u + 1, c] and [n, u]",
         site);
  }
  const auto n = log_probs.dim(0), steps = log_probs.dim(1), width = log_probs.dim(2), labels = width - 1;
  const Sequences in("rnnt_loss", log_probs, targets, logit_lengths, target_lengths, n, log_probs.dim(3), blank, site);
  const auto place = place_of(log_probs);
  const Value blanks = reshape(narrow(in.log_probs, 3, blank, 1, site), {n, steps, width}, site);
  const Value index = expand(reshape(in.targets, {n, 1, labels, 1}, site), {n, steps, labels, 1}, site);
  const Value picked = gather(narrow(in.log_probs, 2, 0, labels, site), 3, index, site);
  const std::pair<std::int64_t, std::int64_t> one_before[] = {{1, 0}};
  const Value by_label = pad(reshape(picked, {n, steps, labels}, site), one_before, -kInfinity, site);

  // [n, t, u] at t = d - u - `delay`, as [n, d, u].
  const auto diagonals = steps + labels;
  const Value d = numbers(place, diagonals, 1, 3, site), u = numbers(place, width, 2, 3, site);
  const ir::Shape skewed{n, diagonals, width};
  const auto skew = [&](const Value& x, double delay) {
    const Value t = d - u - delay, last = literal(t, static_cast<double>(steps - 1));
    const Value nearest = min(max(t, 0.0), last);
    const Value values = gather(x, 1, expand(nearest, skewed, site), site);
    return select(expand(t == nearest, skewed, site), values, -kInfinity);
  };
  const std::array weights{skew(blanks, 1), skew(by_label, 0)};
  const Value start = filled(place, skewed, 0, in.log_probs.dtype(), site);
  const Value first = select(expand(d + u < 1.0, skewed, site), start, -kInfinity);
  const Value paths = apply(ir::BandedScan{ir::Semiring::log}, first, stack(weights, 2, site), site);

  const Value last_step = in.input_lengths - 1.0;
  const auto at_end = [&](const Value& x, const Value& row) {
    return element_at(element_at(x, 1, row), 1, in.target_lengths);
  };
  const Value loss = -(at_end(paths, last_step + in.target_lengths) + at_end(blanks, last_step));
  return cast(loss, log_probs.dtype(), site);
}

}  // namespace burn::client
