#include "backends/cuda/lower/small_product.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/lower/target.h"

namespace burn::backends::cuda {
namespace {

constexpr std::int64_t kTile = 32, kMaxParts = 8;  // the largest cluster that every device supports

std::int64_t tiles_of(const Product& product) {
  return ((product.c.rows + kTile - 1) / kTile) * ((product.c.columns + kTile - 1) / kTile);
}

// Parts of the depth: as many as keep two blocks on each multiprocessor and leave each enough work. A power of two.
int parts_of(const Device& device, const Product& product) {
  constexpr std::int64_t kMinDepth = 16, kBlocks = 2;
  std::int64_t parts = kMaxParts;
  while (parts > 1 &&
         (tiles_of(product) * parts > kBlocks * device.multiprocessors() || product.a.columns < parts * kMinDepth))
    parts /= 2;
  return static_cast<int>(parts);
}

// The layout of one operand: whether neighbours in memory have the same depth index, the stride between lines, and
// whether four elements can be read at once.
struct Lines {
  bool is_across, is_vector;
  std::int64_t stride;
};
Lines lines_of(const Matrix& matrix, bool is_first) {
  const bool is_across = is_first ? matrix.row_stride == 1 && matrix.column_stride != 1 : matrix.column_stride == 1;
  const auto stride = matrix.row_stride == 1 && matrix.column_stride != 1 ? matrix.column_stride : matrix.row_stride;
  return {is_across, is_across && stride % 4 == 0 && matrix.alignment % 16 == 0, stride};
}

bool has_lines(const Matrix& matrix) { return matrix.row_stride == 1 || matrix.column_stride == 1; }

}  // namespace

bool is_small(const Device& device, const Product& product) {
  constexpr std::int64_t kMaxDepth = 8192;
  constexpr int kClusters = 90;
  return product.dtype == ir::DType::f32 && !product.tf32 && product.batch == 1 && product.c.rows > 1 &&
         product.c.columns > 1 && product.c.column_stride == 1 && has_lines(product.a) && has_lines(product.b) &&
         device.compute_capability() >= kClusters && product.a.columns <= kMaxDepth &&
         tiles_of(product) <= device.multiprocessors() && parts_of(device, product) > 1;
}

void multiply_small(Emitter& emit, const Product& product, const View& a, const View& b, const View& c,
                    const Address& vector) {
  const int parts = parts_of(device_of(emit), product);
  const auto first = lines_of(product.a, true), second = lines_of(product.b, false);
  const bool has_bias = product.epilogue == Epilogue::bias;
  const KernelSource source{fmt::format(
      "#include \"backends/cuda/kernels/small_product.h\"\nusing namespace burn::cuda;\n"
      "extern \"C\" __global__ void __cluster_dims__({0}, 1, 1) __launch_bounds__(kSmallThreads) burn_kernel(const "
      "float* a, "
      "const float* b, const float* bias, float* c, int rows, int columns, int depth, std::int64_t a_stride, "
      "std::int64_t b_stride, std::int64_t c_stride) {{\n"
      "  multiply_small<{1}, {2}, {3}, {4}, {0}, {5}>(a, b, bias, c, rows, columns, depth, a_stride, b_stride, "
      "c_stride);\n"
      "}}\n",
      parts, first.is_across, first.is_vector, second.is_across, second.is_vector, has_bias)};
  emit.launch(source, {.blocks = tiles_of(product) * parts, .threads = 128},
              {a, b, has_bias ? Argument(vector) : Argument(std::int64_t{0}), c, static_cast<int>(product.c.rows),
               static_cast<int>(product.c.columns), static_cast<int>(product.a.columns), first.stride, second.stride,
               product.c.row_stride});
}

}  // namespace burn::backends::cuda
