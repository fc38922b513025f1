#include "backends/cuda/libraries/cublas_product.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/driver/trial.h"
#include "backends/cuda/libraries/cublas_api.h"

namespace burn::backends::cuda {
namespace {

// Owners of the library's objects.
template <typename T, auto CublasApi::*destroy>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Owned() {
    if (object) (cublas_api().*destroy)(object);
  }
  T object = nullptr;
};
using Description = Owned<cublasLtMatmulDesc_t, &CublasApi::cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, &CublasApi::cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, &CublasApi::cublasLtMatmulPreferenceDestroy>;

cudaDataType type_of(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return CUDA_R_64F;
    case ir::DType::f16:
      return CUDA_R_16F;
    case ir::DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

// The library's layouts are column-major: a row-major matrix is described as its transpose.
struct ColumnMajor {
  std::int64_t rows, columns, leading;
  bool is_transposed;
};
ColumnMajor column_major(const Matrix& matrix) {
  const bool is_row_major = matrix.column_stride == 1 || matrix.columns == 1;
  // A single row or column may have any stride, but the library requires at least the length of a column.
  if (is_row_major)
    return {matrix.columns, matrix.rows,
            std::max(matrix.rows == 1 ? matrix.columns : matrix.row_stride, matrix.columns), false};
  return {matrix.rows, matrix.columns, std::max(matrix.columns == 1 ? matrix.rows : matrix.column_stride, matrix.rows),
          true};
}

Result<Layout> layout_of(const Matrix& matrix, std::int64_t batch, ir::DType dtype) {
  const auto as = column_major(matrix);
  Layout layout;
  BURN_RETURN_IF_ERROR(check_cublas(
      cublas_api().cublasLtMatrixLayoutCreate(&layout.object, type_of(dtype), static_cast<std::uint64_t>(as.rows),
                                              static_cast<std::uint64_t>(as.columns), as.leading),
      "layout"));
  if (batch > 1) {
    const auto count = static_cast<std::int32_t>(batch);
    BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtMatrixLayoutSetAttribute(
                                          layout.object, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                                      "batch"));
    BURN_RETURN_IF_ERROR(check_cublas(
        cublas_api().cublasLtMatrixLayoutSetAttribute(layout.object, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                      &matrix.batch_stride, sizeof matrix.batch_stride),
        "batch stride"));
  }
  return layout;
}

const char* suffix_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      return "";
    case Epilogue::bias:
      return " + bias";
    case Epilogue::a_sums:
      return " and sums of a";
    case Epilogue::b_sums:
      return " and sums of b";
  }
  return "";
}

// The library computes c^T = b^T a^T: its rows are our columns, and its first operand is b.
cublasLtEpilogue_t epilogue_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      return CUBLASLT_EPILOGUE_DEFAULT;
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::a_sums:
      return CUBLASLT_EPILOGUE_BGRADB;
    case Epilogue::b_sums:
      return CUBLASLT_EPILOGUE_BGRADA;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

cublasComputeType_t compute_type_of(const Product& product) {
  if (product.dtype == ir::DType::f64) return CUBLAS_COMPUTE_64F;
  return product.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

void* pointer_to(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT: the driver's are numbers
}

std::size_t vector_bytes(const Product& p) {
  const auto count = p.epilogue == Epilogue::none ? 0 : std::max({p.a.rows, p.c.columns, std::int64_t{1}});
  return static_cast<std::size_t>(count) * ir::size_of(p.dtype);
}

std::size_t bytes_of(const Matrix& m, const Product& p) {
  const auto last = (m.rows - 1) * m.row_stride + (m.columns - 1) * m.column_stride + (p.batch - 1) * m.batch_stride;
  return static_cast<std::size_t>(last + 1) * ir::size_of(p.dtype);
}

constexpr std::size_t kMaxWorkspace = 32 << 20;  // as the library's documentation recommends for Hopper
constexpr int kMaxCandidates = 16;
using Candidates = std::vector<cublasLtMatmulHeuristicResult_t>;

Result<Preference> preference_of(const Product& product) {
  Preference preference;
  BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtMatmulPreferenceCreate(&preference.object), "preference"));
  BURN_RETURN_IF_ERROR(check_cublas(
      cublas_api().cublasLtMatmulPreferenceSetAttribute(preference.object, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &kMaxWorkspace, sizeof kMaxWorkspace),
      "workspace"));
  const std::pair<cublasLtMatmulPreferenceAttributes_t, int> alignments[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, product.b.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, product.a.alignment}};
  for (const auto& [which, bytes] : alignments) {
    const auto value = static_cast<std::uint32_t>(bytes);
    BURN_RETURN_IF_ERROR(
        check_cublas(cublas_api().cublasLtMatmulPreferenceSetAttribute(preference.object, which, &value, sizeof value),
                     "alignment"));
  }
  return preference;
}

Result<Description> description_of(const Product& product) {
  Description description;
  const bool is_double = product.dtype == ir::DType::f64;
  BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtMatmulDescCreate(&description.object, compute_type_of(product),
                                                                          is_double ? CUDA_R_64F : CUDA_R_32F),
                                    "description"));
  const auto first = column_major(product.b).is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto second = column_major(product.a).is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtMatmulDescSetAttribute(
                                        description.object, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first),
                                    "transa"));
  BURN_RETURN_IF_ERROR(check_cublas(cublas_api().cublasLtMatmulDescSetAttribute(
                                        description.object, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second),
                                    "transb"));
  return description;
}

class Prepared final : public PreparedProduct {
 public:
  std::size_t workspace_bytes() const override { return workspace_; }

  Status run(const ProductAddresses& at, CUstream stream) const override {
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const bool is_double = dtype_ == ir::DType::f64;
    const void* alpha = is_double ? static_cast<const void*>(&one64) : &one;
    const void* beta = is_double ? static_cast<const void*>(&zero64) : &zero;
    // The vector's address is part of the description, which other threads use, too.
    std::unique_lock<std::mutex> lock;
    if (has_vector_) {
      lock = std::unique_lock(mutex_);
      BURN_RETURN_IF_ERROR(set_vector(at.vector));
    }
    return check_cublas(cublas_api().cublasLtMatmul(handle_, description_.object, alpha, pointer_to(at.b), b_.object,
                                                    pointer_to(at.a), a_.object, beta, pointer_to(at.c), c_.object,
                                                    pointer_to(at.c), c_.object, &algorithm_, pointer_to(at.workspace),
                                                    workspace_, reinterpret_cast<cudaStream_t>(stream)),
                        "matmul");
  }

  static Result<std::shared_ptr<const PreparedProduct>> make(cublasLtHandle_t handle, const Product& product,
                                                             Autotune& choices) {
    auto made = std::make_shared<Prepared>();
    made->handle_ = handle;
    made->dtype_ = product.dtype;
    BURN_TRY(made->description_, description_of(product));
    if (product.epilogue != Epilogue::none) BURN_RETURN_IF_ERROR(made->add_epilogue(product));
    BURN_TRY(made->a_, layout_of(product.a, product.batch, product.dtype));
    BURN_TRY(made->b_, layout_of(product.b, product.batch, product.dtype));
    BURN_TRY(made->c_, layout_of(product.c, product.batch, product.dtype));
    BURN_RETURN_IF_ERROR(made->choose(product, choices));
    return std::shared_ptr<const PreparedProduct>(std::move(made));
  }

 private:
  Status add_epilogue(const Product& product) {
    has_vector_ = true;
    const auto epilogue = epilogue_of(product.epilogue);
    BURN_RETURN_IF_ERROR(
        check_cublas(cublas_api().cublasLtMatmulDescSetAttribute(description_.object, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                                 &epilogue, sizeof epilogue),
                     "epilogue"));
    // Nothing is read from this address; it only tells the alignment of the real ones.
    return set_vector(static_cast<CUdeviceptr>(product.vector_alignment));
  }

  Status set_vector(CUdeviceptr address) const {
    void* vector = pointer_to(address);
    return check_cublas(
        cublas_api().cublasLtMatmulDescSetAttribute(description_.object, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                    static_cast<const void*>(&vector), sizeof vector),
        "epilogue");
  }

  // The library's algorithms for the product, the most promising first. Errors: UNIMPLEMENTED if there are none.
  Result<Candidates> candidates(const Product& product) const {
    BURN_TRY(const auto preference, preference_of(product));
    std::array<cublasLtMatmulHeuristicResult_t, kMaxCandidates> found{};
    int count = 0;
    const auto status =
        cublas_api().cublasLtMatmulAlgoGetHeuristic(handle_, description_.object, b_.object, a_.object, c_.object,
                                                    c_.object, preference.object, kMaxCandidates, found.data(), &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0) return unimplemented("cuBLASLt has no kernel for this product");
    return Candidates(found.begin(), found.begin() + count);
  }

  void take(const cublasLtMatmulHeuristicResult_t& candidate) {
    algorithm_ = candidate.algo;
    workspace_ = candidate.workspaceSize;
  }

  Status choose(const Product& product, Autotune& choices) {
    BURN_TRY(const auto found, candidates(product));
    take(found[0]);
    if (product.a.rows == 1 || product.b.columns == 1) return {};
    std::vector<std::string> texts;
    texts.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) texts.push_back(fmt::format("heuristic {}", i));
    const std::vector<std::string_view> names(texts.begin(), texts.end());
    std::optional<Trial> trial;  // created if something is timed
    const auto fastest = choices.choose_timed(key_of(product), names, [&](int i) -> Result<double> {
      if (!trial)
        trial.emplace({bytes_of(product.a, product), bytes_of(product.b, product), bytes_of(product.c, product),
                       vector_bytes(product), kMaxWorkspace});
      take(found[static_cast<std::size_t>(i)]);
      return trial->seconds([&, blocks = trial->blocks()](CUstream stream) {
        return run({blocks[0], blocks[1], blocks[2], blocks[3], blocks[4]}, stream);
      });
    });
    take(found[static_cast<std::size_t>(fastest)]);
    return {};
  }

  cublasLtHandle_t handle_ = nullptr;
  ir::DType dtype_ = ir::DType::f32;
  bool has_vector_ = false;
  mutable std::mutex mutex_;  // guards the vector's address in the description until the call is enqueued
  Description description_;
  Layout a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_ = 0;
};

}  // namespace

std::string key_of(const Product& p) {
  const auto matrix = [](const Matrix& m) {
    return fmt::format("{}x{} {} {} {}", m.rows, m.columns, m.row_stride, m.column_stride, m.batch_stride);
  };
  const auto type = p.tf32 ? std::string_view("tf32") : ir::name(p.dtype);
  return fmt::format("matmul {} {} ({}) ({}){}", type, p.batch, matrix(p.a), matrix(p.b), suffix_of(p.epilogue));
}

Result<std::shared_ptr<const PreparedProduct>> prepare_product(cublasLtHandle_t handle, const Product& product,
                                                               Autotune& choices) {
  return Prepared::make(handle, product, choices);
}

}  // namespace burn::backends::cuda
