// Activations other than the few in client/ops/ops.h, as composites: they have no op and no gradient rule of their own.
// Names and defaults are Burn's; at a kink of a function, the gradient is that of one of its sides.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

Value clamp(const Value& x, double low, double high, const Site& site);  // gradient 1 inside, 0 outside

Value softmin(const Value& x, std::int64_t axis, const Site& site);  // softmax(-x)
// -gather(log_softmax(x, axis), axis, index), without computing the logarithms that gather would not read.
Value neg_log_softmax_at(const Value& x, std::int64_t axis, const Value& index, const Site& site);
Value quiet_softmax(const Value& x, std::int64_t axis, const Site& site);  // e^x / (1 + sum e^x): may attend to nothing
Value log_sigmoid(const Value& x, const Site& site);                       // -softplus(-x)

Value relu6(const Value& x, const Site& site);                                    // clamp(x, 0, 6)
Value hardtanh(const Value& x, double low, double high, const Site& site);        // clamp(x, low, high)
Value hard_sigmoid(const Value& x, double alpha, double beta, const Site& site);  // clamp(alpha x + beta, 0, 1)
Value hard_swish(const Value& x, const Site& site);                               // x clamp(x / 6 + 1/2, 0, 1)
Value gelu_approximate(const Value& x, const Site& site);  // x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
Value mish(const Value& x, const Site& site);              // x tanh(softplus(x))
Value tanhshrink(const Value& x, const Site& site);        // x - tanh(x)
Value softsign(const Value& x, const Site& site);          // x / (1 + |x|)

Value elu(const Value& x, double alpha, const Site& site);   // x above 0, alpha (e^x - 1) elsewhere
Value celu(const Value& x, double alpha, const Site& site);  // x above 0, alpha (e^(x / alpha) - 1) elsewhere
Value selu(const Value& x, const Site& site);  // 1.0507 elu(x, 1.6733), self-normalising (arXiv:1706.02515)
// max(x, 0) + alpha min(x, 0). alpha: [1], or [c] along dim 1 of x.
Value prelu(const Value& x, const Value& alpha, const Site& site);

Value thresholded_relu(const Value& x, double alpha, const Site& site);  // x above alpha, 0 elsewhere
Value threshold(const Value& x, double threshold, double value,
                const Site& site);  // x above the threshold, value elsewhere
// x - bias above lambda, x + bias below -lambda, 0 between. hard_shrink: bias 0; soft_shrink: bias lambda.
Value shrink(const Value& x, double lambda, double bias, const Site& site);
// First half times sigmoid(second half) along `axis`. Errors: an odd size.
Value glu(const Value& x, std::int64_t axis, const Site& site);

}  // namespace burn::client
