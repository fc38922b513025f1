// How a Fourier transform of n numbers is divided, and the numbers that its tables are made of.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

struct Angle {
  double cos, sin;
};

// e^(-2 pi i part / whole), 0 <= part < whole; from an angle within an eighth of the circle, where nothing is lost.
Angle root_of_unity(std::int64_t part, std::int64_t whole);

// The factor of the next pass.
std::int64_t next_factor(std::int64_t n);

// The rows of a matrix of n numbers whose rows and columns fill vectors: 0 if there is none. The best is the one
// closest to square of those that leave the least over.
std::int64_t rows_of_matrix(std::int64_t n);

// The length of the convolution of a transform that is made of one; 0: it is not.
std::int64_t convolution_length(std::int64_t n);

}  // namespace burn::backends::cpu
