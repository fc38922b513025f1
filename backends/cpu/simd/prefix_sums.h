// Running sums of f32, in double.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// y[i] = before + x[0] + .. + x[i], rounded once; returns the last of these sums. x and y may be the same.
double prefix_sums(std::int64_t n, double before, const float* x, float* y);

}  // namespace burn::backends::cpu
