// How a Fourier transform of n numbers is factored, and the numbers in its tables.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

struct Angle {
  double cos, sin;
};

// e^(-2 pi i part / whole), 0 <= part < whole; computed from an angle within an eighth of the circle, to lose no
// precision.
Angle root_of_unity(std::int64_t part, std::int64_t whole);

// The factor of the next pass over n numbers.
std::int64_t next_factor(std::int64_t n);

// The rows of a matrix of n numbers whose rows and columns fill vectors; 0: there is none. The best is the closest to
// square among those that leave the smallest remainder.
std::int64_t rows_of_matrix(std::int64_t n);

// The length of the convolution that a transform of n numbers is computed with; 0: it is computed by factors.
std::int64_t convolution_length(std::int64_t n);

}  // namespace burn::backends::cpu
