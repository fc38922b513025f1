// Attention and its gradient. Their shape rules are in the .cc file.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// softmax(scale q k^T) v over the keys, without storing the whole score matrix (Dao et al., arXiv:2205.14135), and the
// statistics of the softmax: for each query the log-sum-exp of its scores, in the dtype that the op computes in.
// Operands: q, k, v, then optionally a bool mask [..., n, m] (true: hidden) and a bias [..., n, m] that is added to the
// scores; batch dims are equal (Expand first; expanded masks are read in place). `causal` hides key j from query i
// where j > i + m - n. A query with all keys hidden has the result 0 and the statistic -infinity.
struct Attention {
  double scale = 1;
  bool causal = false;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "attention";
  static constexpr std::string_view kSignature =
      "[..., n, d], [..., m, d], [..., m, e], bool[..., n, m]?, [..., n, m]? -> [..., n, e], f32 or f64[..., n, 1]";
  static constexpr auto kAttrs = std::tuple{Attr{"scale", &Attention::scale}, Attr{"causal", &Attention::causal}};
};

// The gradients of Attention in q, k and v; one op, because they share most of their work. Operands: q, k, v, both
// results, the gradient of the first one, and the mask and the bias as above.
struct AttentionGrad {
  double scale = 1;
  bool causal = false;
  static constexpr int kResults = 3;
  static constexpr std::string_view kName = "attention_grad";
  static constexpr std::string_view kSignature =
      "[..., n, d], [..., m, d], [..., m, e], [..., n, e], f32 or f64[..., n, 1], [..., n, e], bool[..., n, m]?, "
      "[..., n, m]? -> [..., n, d], [..., m, d], [..., m, e]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"scale", &AttentionGrad::scale}, Attr{"causal", &AttentionGrad::causal}};
};

#define BURN_ATTENTION_OPS(OP) OP(Attention) OP(AttentionGrad)

}  // namespace burn::ir
