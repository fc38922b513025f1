// Recurrences over the rows of a lattice, of which dynamic programs over sequences are made. Their shape rules are in
// the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// What a recurrence adds and multiplies with. linear: the sum and the product. log: log(e^a + e^b) and the sum, of
// which -infinity is the zero.
enum class Semiring : std::uint8_t { linear, log };

// Rows follow from the row before by a band matrix: y[t, i] = b[t, i] + sum over j <= i of w[t, j, i] * y[t - 1, i -
// j], where + and * are the semiring's. `adjoint`: the transposed recurrence, from the last row to the first: y[t, i] =
// b[t, i] + sum over j of w[t + 1, j, i + j] * y[t + 1, i + j]. What lies outside is the semiring's zero. Takes f32 and
// f64: sums over many rows want more than 16 bits.
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
