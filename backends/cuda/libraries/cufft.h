// cuFFT, loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <cufft.h>

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/shared_library.h"
#include "ir/types/dtype.h"

namespace burn::backends::cuda {

// FN(name): every function of the library that is used.
#define BURN_CUFFT(FN)       \
  FN(cufftCreate)            \
  FN(cufftDestroy)           \
  FN(cufftExecC2C)           \
  FN(cufftExecC2R)           \
  FN(cufftExecD2Z)           \
  FN(cufftExecR2C)           \
  FN(cufftExecZ2D)           \
  FN(cufftExecZ2Z)           \
  FN(cufftGetVersion)        \
  FN(cufftMakePlanMany64)    \
  FN(cufftSetAutoAllocation) \
  FN(cufftSetStream)         \
  FN(cufftSetWorkArea)

// A batch of unscaled transforms of one length. Complex numbers are pairs of real and imaginary part; of a real
// signal's spectrum only the first length / 2 + 1 numbers are stored. Element j of transform b is at j * stride + b *
// distance, counted in elements of its kind, the same for operand and result: [batch, length] or [length, batch].
struct Transforms {
  enum class Kind : std::uint8_t { complex, from_real, to_real };
  Kind kind = Kind::complex;
  ir::DType dtype = ir::DType::f32;  // or f64
  std::int64_t length = 1, batch = 1;
  bool by_columns = false;  // [length, batch]

  bool operator==(const Transforms&) const = default;
};

// Thread-safe.
class PreparedTransforms {
 public:
  virtual ~PreparedTransforms() = default;
  virtual std::size_t workspace_bytes() const = 0;
  // `from` and `to` are aligned to a complex number, and do not overlap; the contents of `from` are lost for
  // Kind::to_real. `inverse`: of complex ones, with e^(+i...).
  virtual Status run(CUdeviceptr from, CUdeviceptr to, CUdeviceptr workspace, bool inverse, CUstream stream) const = 0;
};

SharedLibrary& cufft_library();

// Thread-safe.
class Cufft {
 public:
  // For the current context. Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::unique_ptr<Cufft>> open();

  // Errors: UNIMPLEMENTED if the library does not support them; RESOURCE_EXHAUSTED.
  Result<std::shared_ptr<const PreparedTransforms>> prepare(const Transforms& transforms);

 private:
  static constexpr std::size_t kMaxPrepared = 512;  // beyond it, all are dropped and prepared again

  Cufft() = default;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const PreparedTransforms>> prepared_;
};

}  // namespace burn::backends::cuda
