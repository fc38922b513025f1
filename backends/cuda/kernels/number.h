// A number as a kernel's parameter. Compiled by NVRTC alone.
#pragma once

namespace burn::cuda {

// A parameter of a kernel that takes eight bytes.
template <typename T>
struct alignas(8) Number {
  T value;
};

}  // namespace burn::cuda
