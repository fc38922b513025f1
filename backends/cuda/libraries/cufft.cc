#include "backends/cuda/libraries/cufft.h"

#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

using Kind = Transforms::Kind;

struct Table {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUFFT(FN)
#undef FN
};
Table table;

const char* text_of(cufftResult result) {
  switch (result) {
    case CUFFT_ALLOC_FAILED:
      return "no memory";
    case CUFFT_INVALID_SIZE:
      return "it has no transform of this size";
    case CUFFT_NOT_SUPPORTED:
    case CUFFT_NOT_IMPLEMENTED:
      return "it does not do this";
    case CUFFT_UNALIGNED_DATA:
      return "data are not aligned";
    case CUFFT_SETUP_FAILED:
      return "it does not start";
    case CUFFT_EXEC_FAILED:
      return "it does not run on the device";
    default:
      return "it fails";
  }
}

Status check(cufftResult result, const char* what) {
  if (result == CUFFT_SUCCESS) return {};
  auto message = fmt::format("cuFFT: {}: {} ({})", what, text_of(result), static_cast<int>(result));
  if (result == CUFFT_ALLOC_FAILED) return resource_exhausted(std::move(message));
  const bool is_refused =
      result == CUFFT_INVALID_SIZE || result == CUFFT_NOT_SUPPORTED || result == CUFFT_NOT_IMPLEMENTED;
  return is_refused ? unimplemented(std::move(message)) : internal_error(std::move(message));
}

cufftType type_of(const Transforms& what) {
  const bool is_double = what.dtype == ir::DType::f64;
  switch (what.kind) {
    case Kind::complex:
      return is_double ? CUFFT_Z2Z : CUFFT_C2C;
    case Kind::from_real:
      return is_double ? CUFFT_D2Z : CUFFT_R2C;
    case Kind::to_real:
      return is_double ? CUFFT_Z2D : CUFFT_C2R;
  }
  return CUFFT_C2C;
}

template <typename T>
T* pointer_to(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);  // NOLINT: the driver's are numbers
}

class Prepared final : public PreparedTransforms {
 public:
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() override {
    if (plan_ != CUFFT_PLAN_NULL) table.cufftDestroy(plan_);
  }

  static Result<std::shared_ptr<const PreparedTransforms>> make(const Transforms& what) {
    auto made = std::make_shared<Prepared>();
    made->type_ = type_of(what);
    BURN_RETURN_IF_ERROR(check(table.cufftCreate(&made->plan_), "cufftCreate"));
    BURN_RETURN_IF_ERROR(check(table.cufftSetAutoAllocation(made->plan_, 0), "cufftSetAutoAllocation"));
    long long length = what.length;
    const long long half = length / 2 + 1;
    long long from = what.kind == Kind::to_real ? half : length, to = what.kind == Kind::from_real ? half : length;
    const long long stride = what.by_columns ? what.batch : 1;
    const auto distance = [&](long long of) { return what.by_columns ? 1 : of; };
    BURN_RETURN_IF_ERROR(
        check(table.cufftMakePlanMany64(made->plan_, 1, &length, &from, stride, distance(from), &to, stride,
                                        distance(to), made->type_, what.batch, &made->workspace_),
              "cufftMakePlanMany64"));
    return std::shared_ptr<const PreparedTransforms>(std::move(made));
  }

  std::size_t workspace_bytes() const override { return workspace_; }

  Status run(CUdeviceptr from, CUdeviceptr to, CUdeviceptr workspace, bool inverse, CUstream stream) const override {
    const std::lock_guard lock(mutex_);  // stream and workspace are stored in the plan, and mostly unchanged
    if (!is_set_ || stream != last_stream_)
      BURN_RETURN_IF_ERROR(
          check(table.cufftSetStream(plan_, reinterpret_cast<cudaStream_t>(stream)), "cufftSetStream"));
    last_stream_ = stream;
    if (workspace_ > 0 && (!is_set_ || workspace != last_workspace_))
      BURN_RETURN_IF_ERROR(check(table.cufftSetWorkArea(plan_, pointer_to<void>(workspace)), "cufftSetWorkArea"));
    last_workspace_ = workspace;
    is_set_ = true;
    return check(execute(from, to, inverse ? CUFFT_INVERSE : CUFFT_FORWARD), "execution");
  }

 private:
  cufftResult execute(CUdeviceptr from, CUdeviceptr to, int direction) const {
    switch (type_) {
      case CUFFT_C2C:
        return table.cufftExecC2C(plan_, pointer_to<cufftComplex>(from), pointer_to<cufftComplex>(to), direction);
      case CUFFT_Z2Z:
        return table.cufftExecZ2Z(plan_, pointer_to<cufftDoubleComplex>(from), pointer_to<cufftDoubleComplex>(to),
                                  direction);
      case CUFFT_R2C:
        return table.cufftExecR2C(plan_, pointer_to<cufftReal>(from), pointer_to<cufftComplex>(to));
      case CUFFT_D2Z:
        return table.cufftExecD2Z(plan_, pointer_to<cufftDoubleReal>(from), pointer_to<cufftDoubleComplex>(to));
      case CUFFT_C2R:
        return table.cufftExecC2R(plan_, pointer_to<cufftComplex>(from), pointer_to<cufftReal>(to));
      case CUFFT_Z2D:
        return table.cufftExecZ2D(plan_, pointer_to<cufftDoubleComplex>(from), pointer_to<cufftDoubleReal>(to));
    }
    return CUFFT_INVALID_TYPE;
  }

  cufftHandle plan_ = CUFFT_PLAN_NULL;
  cufftType type_ = CUFFT_C2C;
  std::size_t workspace_ = 0;
  mutable std::mutex mutex_;
  mutable bool is_set_ = false;  // whether the plan has the two below
  mutable CUstream last_stream_ = nullptr;
  mutable CUdeviceptr last_workspace_ = 0;
};

}  // namespace

SharedLibrary& cufft_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(#name, table.name),
  static auto& library = *new SharedLibrary({
      .title = "cuFFT",
      .file = "libcufft",
      .releases = {{"libcufft.so.12"}, {"libcufft.so.11"}, {"/usr/local/cuda/lib64/libcufft.so"}},
      .functions = {BURN_CUFFT(FN)},
      .missing = "CUDA: libcufft, for fast Fourier transforms, is not there",
      .lacking = "CUDA: libcufft has no",
      .version =
          [] {
            int number = 0;
            return table.cufftGetVersion(&number) == CUFFT_SUCCESS ? number : 0;
          },
      .oldest = 11000,  // CUDA 12's
      .written = version_by_thousands,
  });
#undef FN
  return library;
}

Result<std::unique_ptr<Cufft>> Cufft::open() {
  BURN_RETURN_IF_ERROR(cufft_library().load());
  return std::unique_ptr<Cufft>(new Cufft);
}

Result<std::shared_ptr<const PreparedTransforms>> Cufft::prepare(const Transforms& what) {
  const auto key =
      fmt::format("{} {} {} {}", static_cast<int>(type_of(what)), what.length, what.batch, what.by_columns);
  const std::lock_guard lock(mutex_);  // also serializes the creation of plans
  if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;
  BURN_TRY(auto made, Prepared::make(what));
  if (prepared_.size() == kMaxPrepared) prepared_.clear();
  prepared_.emplace(key, made);
  return made;
}

}  // namespace burn::backends::cuda
