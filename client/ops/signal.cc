#include "client/ops/signal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "client/fail.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

Value signals(const Value& x, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  if (!ir::is_floating(x.dtype())) fail(std::string{op} + ": takes floats, got " + ir::to_string(x.type()), site);
  return cast(x, ir::compute_dtype(x.dtype()), site);
}

// x cut or padded with zeros at the end to `n` elements along the axis.
Value fitted(const Value& x, int axis, std::int64_t n, const Site& site) {
  const auto size = x.dim(axis);
  if (size == n) return x;
  if (size > n) return narrow(x, axis, 0, n, site);
  ir::Shape rest = x.shape();
  rest[axis] = n - size;
  const auto parts = std::array{x, filled(place_of(x), rest, 0, x.dtype(), site)};
  return concat(parts, axis, site);
}

std::int64_t checked_length(std::int64_t n, const Value& x, const char* op, const Site& site) {
  if (n < 1) fail(std::string{op} + ": length " + std::to_string(n) + " of " + ir::to_string(x.type()), site);
  return n;
}

Complex cast_both(const SmallArray<Value, 3>& parts, ir::DType dtype, const Site& site) {
  return {cast(parts[0], dtype, site), cast(parts[1], dtype, site)};
}

void check_parts(const Value& re, const Value& im, const char* op, const Site& site) {
  fail_if_empty(im, op, site);
  if (re.type() == im.type()) return;
  fail(std::string{op} + ": real parts " + ir::to_string(re.type()) + " and imaginary parts " +
           ir::to_string(im.type()) + " differ",
       site);
}

Value times(const Value& a, const Value& b, const Site& site) { return pointwise(Fn::mul, a, b, site); }

// --- short-time transforms -------------------------------------------------------------------------------------------

void check_stft(const StftShape& s, const char* op, const Site& site) {
  if (s.n_fft >= 1 && s.hop_length >= 1 && s.win_length >= 1 && s.win_length <= s.n_fft) return;
  fail(std::string{op} + ": n_fft " + std::to_string(s.n_fft) + ", hop_length " + std::to_string(s.hop_length) +
           ", win_length " + std::to_string(s.win_length) +
           ": all are at least 1, and a window is no longer than what is transformed",
       site);
}

// [n_fft]: the window, or ones, padded with zeros at both ends.
Value whole_window(const Value* window, const StftShape& s, const Value& like, const char* op, const Site& site) {
  Value w = window != nullptr ? cast(*window, like.dtype(), site)
                              : filled(place_of(like), {s.win_length}, 1, like.dtype(), site);
  if (w.rank() != 1 || w.dim(0) != s.win_length) {
    fail(std::string{op} + ": window " + ir::to_string(w.type()) + " does not have win_length " +
             std::to_string(s.win_length),
         site);
  }
  const auto before = (s.n_fft - s.win_length) / 2, after = s.n_fft - s.win_length - before;
  const auto zeros = [&](std::int64_t n) { return filled(place_of(like), {n}, 0, like.dtype(), site); };
  if (before + after == 0) return w;
  const auto parts = std::array{zeros(before), w, zeros(after)};
  return concat(parts, 0, site);
}

// i64 [frames * n_fft]: the positions of each frame's elements in the signal.
Value frame_index(const Value& like, std::int64_t frames, const StftShape& s, const Site& site) {
  const auto place = place_of(like);
  const auto starts = arange(place, 0, frames * s.hop_length, s.hop_length, ir::DType::i64, site);
  const auto offsets = arange(place, 0, s.n_fft, 1, ir::DType::i64, site);
  const auto index = pointwise(Fn::add, reshape(starts, {frames, 1}, site), reshape(offsets, {1, s.n_fft}, site), site);
  return reshape(index, ir::Shape{frames * s.n_fft}, site);
}

Value mirrored_ends(const Value& x, std::int64_t by, const Site& site) {
  const auto n = x.dim(1);
  if (n <= by) {
    fail("stft: a signal of " + std::to_string(n) + " has nothing to mirror for " + std::to_string(by) +
             " on either side; center needs more than n_fft / 2",
         site);
  }
  if (by == 0) return x;
  const std::array<std::int64_t, 1> axis{1};
  const auto parts =
      std::array{flip(narrow(x, 1, 1, by, site), axis, site), x, flip(narrow(x, 1, n - 1 - by, by, site), axis, site)};
  return concat(parts, 1, site);
}

}  // namespace

Complex rfft(const Value& x, std::int64_t axis, std::optional<std::int64_t> n, const Site& site) {
  const Value wide = signals(x, "rfft", site);
  const int at = normalize_axis(axis, x, "rfft", site);
  const auto length = checked_length(n.value_or(x.dim(at)), x, "rfft", site);
  return cast_both(apply_all(ir::RealFft{at}, fitted(wide, at, length, site), site), x.dtype(), site);
}

Complex cfft(const Value& re, const Value& im, std::int64_t axis, std::optional<std::int64_t> n, const Site& site) {
  const Value wide = signals(re, "cfft", site);
  check_parts(re, im, "cfft", site);
  const int at = normalize_axis(axis, re, "cfft", site);
  const auto length = checked_length(n.value_or(re.dim(at)), re, "cfft", site);
  const Value parts[] = {fitted(wide, at, length, site), fitted(signals(im, "cfft", site), at, length, site)};
  return cast_both(apply_all(ir::Fft{at, false}, parts, site), re.dtype(), site);
}

Value irfft(const Value& re, const Value& im, std::int64_t axis, std::optional<std::int64_t> n, const Site& site) {
  const Value wide = signals(re, "irfft", site);
  check_parts(re, im, "irfft", site);
  const int at = normalize_axis(axis, re, "irfft", site);
  const auto length = checked_length(n.value_or(2 * (re.dim(at) - 1)), re, "irfft", site);
  const auto half = length / 2 + 1;
  const Value y = apply(ir::InverseRealFft{at, length}, fitted(wide, at, half, site),
                        fitted(signals(im, "irfft", site), at, half, site), site);
  const Value scaled = times(y, constant(place_of(y), 1.0 / static_cast<double>(length), y.dtype(), site), site);
  return cast(scaled, re.dtype(), site);
}

Value stft(const Value& signal, const Value* window, const StftShape& s, const Site& site) {
  check_stft(s, "stft", site);
  Value x = signals(signal, "stft", site);
  if (x.rank() != 2) fail("stft: takes [batch, n], got " + ir::to_string(signal.type()), site);
  if (s.center) x = mirrored_ends(x, s.n_fft / 2, site);
  const auto n = x.dim(1), batch = x.dim(0);
  if (n < s.n_fft)
    fail("stft: " + std::to_string(n) + " samples are fewer than n_fft, " + std::to_string(s.n_fft), site);
  const auto frames = (n - s.n_fft) / s.hop_length + 1;
  x = reshape(select_rows(x, 1, frame_index(x, frames, s, site), site), ir::Shape{batch, frames, s.n_fft}, site);
  const Value w = whole_window(window, s, x, "stft", site);
  x = times(x, reshape(w, ir::Shape{1, 1, s.n_fft}, site), site);
  const Value zeros = s.onesided ? Value{} : filled(place_of(x), x.shape(), 0, x.dtype(), site);
  const Value parts[] = {x, zeros};
  const auto spectrum = s.onesided ? apply_all(ir::RealFft{2}, x, site) : apply_all(ir::Fft{2, false}, parts, site);
  const auto both = std::array{spectrum[0], spectrum[1]};
  return cast(stack(both, 3, site), signal.dtype(), site);
}

Value istft(const Value& frames_of, const Value* window, std::optional<std::int64_t> length, const StftShape& s,
            const Site& site) {
  check_stft(s, "istft", site);
  const Value x = signals(frames_of, "istft", site);
  const auto bins = s.onesided ? s.n_fft / 2 + 1 : s.n_fft;
  if (x.rank() != 4 || x.dim(2) != bins || x.dim(3) != 2 || x.dim(1) < 1) {
    fail("istft: takes [batch, frames, " + std::to_string(bins) + ", 2] for n_fft " + std::to_string(s.n_fft) +
             ", got " + ir::to_string(frames_of.type()),
         site);
  }
  if (length && *length < 0) fail("istft: length " + std::to_string(*length), site);
  const auto batch = x.dim(0), frames = x.dim(1), n = (frames - 1) * s.hop_length + s.n_fft;
  // The first half of a real signal's spectrum determines the signal; torch.istft also ignores the other half.
  const Value half = s.onesided ? x : narrow(x, 2, 0, s.n_fft / 2 + 1, site);
  const auto part = [&](std::int64_t which) { return squeeze(narrow(half, 3, which, 1, site), ir::Dims{3}, site); };
  const Value parts[] = {part(0), part(1)};
  Value y = apply(ir::InverseRealFft{2, s.n_fft}, parts, site);
  const Value w = whole_window(window, s, x, "istft", site);
  const Value scale = constant(place_of(w), 1.0 / static_cast<double>(s.n_fft), w.dtype(), site);
  y = times(y, reshape(times(w, scale, site), ir::Shape{1, 1, s.n_fft}, site), site);  // [batch, frames, n_fft]

  const Value index = frame_index(x, frames, s, site);
  const auto overlapped = [&](const Value& of, std::int64_t lines) {  // [lines, frames * n_fft] -> [lines, n]
    return select_assign(filled(place_of(x), {lines, n}, 0, x.dtype(), site), 1, index, of, ir::ScatterFn::add, site);
  };
  y = overlapped(reshape(y, ir::Shape{batch, frames * s.n_fft}, site), batch);
  const Value squares = expand(reshape(times(w, w, site), {1, 1, s.n_fft}, site), {1, frames, s.n_fft}, site);
  constexpr double kLeast = 1e-10;
  const Value weight = pointwise(Fn::max, overlapped(reshape(squares, ir::Shape{1, frames * s.n_fft}, site), 1),
                                 constant(place_of(x), kLeast, x.dtype(), site), site);
  y = pointwise(Fn::div, y, weight, site);
  if (s.center) {
    const auto margin = s.n_fft / 2;
    y = narrow(y, 1, margin, n - 2 * margin, site);
  }
  if (length) y = fitted(y, 1, *length, site);
  return cast(y, frames_of.dtype(), site);
}

std::vector<double> cosine_window(std::int64_t size, bool periodic, double a, double b, double c, const char* name,
                                  const Site& site) {
  if (size < 0) fail(std::string{name} + ": size " + std::to_string(size), site);
  std::vector<double> numbers(static_cast<std::size_t>(size), 1.0);
  const double turn = 2 * std::numbers::pi / static_cast<double>(periodic ? size : size - 1);
  for (std::int64_t k = 0; k < size && size > 1; ++k) {
    const double angle = turn * static_cast<double>(k);
    numbers[static_cast<std::size_t>(k)] = a - b * std::cos(angle) + c * std::cos(2 * angle);
  }
  return numbers;
}

}  // namespace burn::client
