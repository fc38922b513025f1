// Operations of attention on one row of scores, vectorised for this machine.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// The largest element. If one is NaN, the result may be NaN or not; exp_row() then propagates it. -infinity for n = 0.
float row_max(const float* x, std::int64_t n);
double row_max(const double* x, std::int64_t n);

// x = exp(x - shift); returns the sum. For differences up to 0: below -87 a float becomes 0; NaN is kept.
float exp_row(float* x, std::int64_t n, float shift);
double exp_row(double* x, std::int64_t n, double shift);

void scale_row(float* x, std::int64_t n, float factor);
void scale_row(double* x, std::int64_t n, double factor);

float dot_row(const float* x, const float* y, std::int64_t n);
double dot_row(const double* x, const double* y, std::int64_t n);

// Backward pass of a softmax: p = p scale, dp = p (dp - mean), where `mean` is the sum of p dp over the whole row.
void softmax_back_row(float* p, float* dp, std::int64_t n, float scale, float mean);
void softmax_back_row(double* p, double* dp, std::int64_t n, double scale, double mean);

}  // namespace burn::backends::cpu
