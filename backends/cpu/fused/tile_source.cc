#include "backends/cpu/fused/tile_source.h"

namespace burn::backends::cpu {
namespace {

std::int64_t bytes_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

}  // namespace

TileSource::TileSource(Array& x, ir::DType held)
    : data_(x.data()),
      size_(bytes_of(x.dtype())),
      held_size_(bytes_of(held)),
      copy_(cast_loop(x.dtype(), held)),
      converts_(x.dtype() != held),
      nest_(x.shape(), {&x.strides()}) {}

Location TileSource::locate(std::int64_t begin, std::int64_t n, bool needs_dense, std::byte* scratch) {
  const auto stride = nest_.inner_strides()[0];
  if (!converts_ && (stride == 1 || (stride == 0 && !needs_dense))) {
    if (nest_.rank == 1) return {data_ + begin * stride * size_, stride};
    if (n <= nest_.inner_size() - begin % nest_.inner_size()) {
      Location found{nullptr, stride};
      nest_.for_each_run(begin, begin + 1, [&](std::int64_t, const auto& at) { found.data = data_ + at[0] * size_; });
      return found;
    }
  }
  std::byte* to = scratch;
  nest_.for_each_run(begin, begin + n, [&](std::int64_t count, const auto& at) {
    copy_(count, to, data_ + at[0] * size_, stride);
    to += count * held_size_;
  });
  return {scratch, 1};
}

std::optional<TileSource::FixedStride> TileSource::fixed_stride(std::int64_t rows, std::int64_t n,
                                                                bool needs_dense) const {
  const auto stride = nest_.inner_strides()[0];
  if (converts_ || !(stride == 1 || (stride == 0 && !needs_dense))) return std::nullopt;
  if (nest_.rank == 1) return FixedStride{{data_, stride}, rows * n * stride * size_};
  if (nest_.rank != 2 || nest_.inner_size() != n) return std::nullopt;
  const auto row_step = nest_.strides[0][0] * size_;
  if (rows == 1) return FixedStride{{data_, stride}, row_step};
  return FixedStride{{data_, stride, row_step}, rows * row_step};
}

}  // namespace burn::backends::cpu
