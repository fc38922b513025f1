// Recurrences over the rows of a lattice, for dynamic programming over sequences. Their shape rules are in the .cc
// file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// The addition and multiplication of a recurrence. linear: a + b and a * b. log: log(e^a + e^b) and a + b, with the
// zero -infinity.
enum class Semiring : std::uint8_t { linear, log };

// Each row is computed from the row before with a band matrix: y[t, i] = b[t, i] + sum over j <= i of w[t, j, i] * y[t
// - 1, i - j], where + and * are the semiring's. `adjoint`: the transposed recurrence, from the last row to the first:
// y[t, i] = b[t, i] + sum over j of w[t + 1, j, i + j] * y[t + 1, i + j]. Elements outside are the semiring's zero.
// Only f32 and f64: sums over many rows need more than 16 bits.
struct BandedScan {
  Semiring semiring = Semiring::linear;
  bool adjoint = false;
  static constexpr std::string_view kName = "banded_scan";
  static constexpr std::string_view kSignature = "b[n, rows, width], w[n, rows, band, width] -> [n, rows, width]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"semiring", &BandedScan::semiring}, Attr{"adjoint", &BandedScan::adjoint}};
};

#define BURN_LATTICES_OPS(OP) OP(BandedScan)

}  // namespace burn::ir
