#include "nn/functional/sampling.h"

#include "client/ops/sampling.h"

namespace burn {
namespace {

template <std::size_t N>
ir::Dims dims(const std::array<std::int64_t, N>& list) {
  return ir::Dims{std::span<const std::int64_t>{list}};
}

}  // namespace

Tensor<4> module::interpolate(const Tensor<4>& x, const std::array<std::int64_t, 2>& output_size,
                              const InterpolateOptions& options, Loc where) {
  return Tensor<4>{client::interpolate(x.value(), dims(output_size), options, at(where, "interpolate"))};
}

Tensor<3> module::interpolate1d(const Tensor<3>& x, std::int64_t output_size, const InterpolateOptions& options,
                                Loc where) {
  return Tensor<3>{client::interpolate(x.value(), ir::Dims{output_size}, options, at(where, "interpolate1d"))};
}

Tensor<3> module::unfold4d(const Tensor<4>& x, const std::array<std::int64_t, 2>& kernel_size,
                           const UnfoldOptions& options, Loc where) {
  return Tensor<3>{client::unfold4d(x.value(), dims(kernel_size), options, at(where, "unfold4d"))};
}

Tensor<4> module::fold4d(const Tensor<3>& x, const std::array<std::int64_t, 2>& output_size,
                         const std::array<std::int64_t, 2>& kernel_size, const UnfoldOptions& options, Loc where) {
  return Tensor<4>{client::fold4d(x.value(), dims(output_size), dims(kernel_size), options, at(where, "fold4d"))};
}

Tensor<4> grid::affine_grid_2d(const Tensor<3>& transform, const std::array<std::int64_t, 4>& size, Loc where) {
  return Tensor<4>{client::affine_grid_2d(transform.value(), dims(size), at(where, "affine_grid_2d"))};
}

}  // namespace burn
