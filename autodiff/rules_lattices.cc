#include <limits>
#include <vector>

#include "autodiff/rule_list.h"

namespace burn::autodiff::grad_rules {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [n, rows, width] -> [n, rows, band, width]: at (t, j, i) the element (t - 1, i - j), or `outside` if there is none.
Value band_of(const Value& y, std::int64_t band, double outside, const TapedOp& s) {
  const auto rows = y.dim(1), width = y.dim(2);
  std::vector<Value> shifted;
  for (std::int64_t j = 0; j < band; ++j) {
    const std::pair<std::int64_t, std::int64_t> pads[] = {{1, 0}, {j, 0}};
    const Value moved = client::pad(y, pads, outside, s.site);
    shifted.push_back(client::narrow(client::narrow(moved, 1, 0, rows, s.site), 2, 0, width, s.site));
  }
  return client::stack(shifted, 2, s.site);
}

// [n, rows, width] -> [n, rows, band, width]: repeated for each j of the band.
Value over_band(const Value& x, std::int64_t band, const TapedOp& s) {
  return client::expand(client::unsqueeze(x, ir::Dims{2}, s.site), {x.dim(0), x.dim(1), band, x.dim(2)}, s.site);
}

// Replaces -infinity by 0: it is only subtracted from values that are -infinity, too.
Value finite(const Value& y) { return select(y == -kInfinity, 0.0, y); }

Value scan(bool adjoint, const Value& b, const Value& w, const TapedOp& s) {
  return client::apply(ir::BandedScan{ir::Semiring::linear, adjoint}, b, w, s.site);
}

}  // namespace

// A linear recurrence is y = (1 - W)^-1 b; its gradient is the transposed recurrence. In the log semiring, it is the
// transposed linear recurrence whose weights are the shares of the terms in their sum: e^(w + y[t - 1, i - j] - y[t,
// i]). If the sum is -infinity, all shares are 0.
OperandGradients rule(const ir::BandedScan& op, const TapedOp& s) {
  const Value &b = s.x[0], &w = s.x[1];
  const auto band = w.dim(2);
  if (w.type().num_elements() == 0)
    return two(
        s, [&] { return s.g; }, [&] { return zeros_like(w, s); });
  const bool is_log = op.semiring == ir::Semiring::log;
  Value weights = w;
  if (is_log) {
    weights = op.adjoint ? exp(w + over_band(s.y, band, s) - band_of(finite(s.y), band, 0, s))
                         : exp(w + band_of(s.y, band, -kInfinity, s) - over_band(finite(s.y), band, s));
  }
  const Value z = scan(!op.adjoint, s.g, weights, s);
  return two(
      s, [&] { return is_log ? z * exp(b - finite(s.y)) : z; },
      [&] {
        if (is_log) return (op.adjoint ? band_of(z, band, 0, s) : over_band(z, band, s)) * weights;
        return op.adjoint ? over_band(s.y, band, s) * band_of(z, band, 0, s)
                          : over_band(z, band, s) * band_of(s.y, band, 0, s);
      });
}

}  // namespace burn::autodiff::grad_rules
