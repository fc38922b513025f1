// Functions of several tensors: meshgrid, einsum, cartesian_grid, vision::nms. The methods of one tensor are in
// client/tensor/tensor.h.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "client/ops/arrange.h"
#include "client/ops/einsum.h"
#include "client/tensor/tensor.h"

namespace burn {

namespace client {
void check_closeness(const Value& output, const Value& expected, const Site& site);
}

namespace grid {

enum class Indexing { matrix, cartesian };  // "ij": x_k varies along dim k; "xy": the first two dims are swapped
enum class Sparsity { dense, sparse };      // sparse: the dims along which a grid is constant have size 1
enum class IndexPos { first, last };        // position of the new dim, along which the grids are stacked

struct MeshgridOptions {
  Indexing indexing = Indexing::matrix;
  Sparsity sparsity = Sparsity::dense;
};

// N vectors -> N tensors of rank N: auto [x, y] = grid::meshgrid(Tensor<1>..., Tensor<1>...).
template <Kind K, std::size_t N>
std::array<Tensor<static_cast<int>(N), K>, N> meshgrid(const std::array<Tensor<1, K>, N>& axes,
                                                       const MeshgridOptions& options = {},
                                                       Loc where = Loc::current()) {
  std::array<client::Value, N> values;
  for (std::size_t i = 0; i < N; ++i) values[i] = axes[i].value();
  const auto grids = client::meshgrid(values, options.indexing == Indexing::cartesian,
                                      options.sparsity == Sparsity::sparse, at(where, "meshgrid"));
  std::array<Tensor<static_cast<int>(N), K>, N> result;
  for (std::size_t i = 0; i < N; ++i) result[i] = Tensor<static_cast<int>(N), K>{grids[i]};
  return result;
}
// The dense grids of matrix indexing as one tensor: [N, n0, n1, ...] or [n0, n1, ..., N].
template <Kind K, std::size_t N>
Tensor<static_cast<int>(N) + 1, K> meshgrid_stack(const std::array<Tensor<1, K>, N>& axes,
                                                  IndexPos position = IndexPos::last, Loc where = Loc::current()) {
  std::array<client::Value, N> values;
  for (std::size_t i = 0; i < N; ++i) values[i] = axes[i].value();
  const auto site = at(where, "meshgrid_stack");
  const auto grids = client::meshgrid(values, false, false, site);
  return Tensor<static_cast<int>(N) + 1, K>{
      client::stack(grids, position == IndexPos::first ? 0 : static_cast<int>(N), site)};
}

}  // namespace grid

namespace vision {

struct NmsOptions {
  double iou_threshold = 0.5;         // 0 to 1; boxes with a higher IoU with a better box are left out
  double score_threshold = 0;         // boxes with a lower score are left out first, as are those with NaN
  std::int64_t max_output_boxes = 0;  // 0: all
};

}  // namespace vision

namespace client {
// i64 [kept]: non-maximum suppression of boxes [n, 4] by scores [n] (found.cc).
Value nms(const Value& boxes, const Value& scores, const vision::NmsOptions& options, const Site& site);
}  // namespace client

namespace vision {

// Non-maximum suppression: the indices of the boxes (x1, y1, x2, y2) that are kept, the best score first, of equal
// scores the lower index first. Boxes [n, 4], scores [n]. Reads the number of boxes from the device: one round trip.
inline Tensor<1, Int> nms(const Tensor<2>& boxes, const Tensor<1>& scores, const NmsOptions& options = {},
                          Loc where = Loc::current()) {
  return Tensor<1, Int>{client::nms(boxes.value(), scores.value(), options, at(where, "nms"))};
}

}  // namespace vision

// The equation of einsum(), with its call site.
struct Equation {
  Equation(const char* equation, Loc location = Loc::current()) : text(equation), where(location) {}       // NOLINT
  Equation(std::string_view equation, Loc location = Loc::current()) : text(equation), where(location) {}  // NOLINT
  std::string_view text;
  Loc where;
};

// Einstein summation (client/ops/einsum.h): einsum<2>("ij,jk->ik", a, b). E: the rank of the result, at least 1.
template <int E, Kind K, int... Ds>
Tensor<E, K> einsum(const Equation& equation, const Tensor<Ds, K>&... tensors) {
  const std::array<client::Value, sizeof...(Ds)> values{tensors.value()...};
  return Tensor<E, K>{client::einsum(equation.text, values, at(equation.where)), "einsum", equation.where};
}
// The same for operands whose number or ranks are known at run time only: einsum<2>(equation, {x.value(), y.value()}).
template <int E, Kind K = Float>
Tensor<E, K> einsum(const Equation& equation, const std::vector<client::Value>& operands) {
  return Tensor<E, K>{client::einsum(equation.text, operands, at(equation.where)), "einsum", equation.where};
}

// [*shape, rank]: at [i, j, ...] the numbers i, j, ...
template <int D>
Tensor<D + 1, Int> cartesian_grid(const std::array<std::int64_t, D>& shape, const TensorOptions& options,
                                  Loc where = Loc::current()) {
  return Tensor<1, Int>::cartesian_grid<D + 1>(Dims<D>{shape}, options, where);
}

// Prints the fractions of the elements of two tensors that are within 1, 0.1, ... 1e-8 of each other, and the largest
// distance. Reads both in one round trip. Errors (thrown): their shapes differ.
template <int D>
void check_closeness(const Tensor<D>& output, const Tensor<D>& expected, Loc where = Loc::current()) {
  client::check_closeness(output.value(), expected.value(), at(where, "check_closeness"));
}

}  // namespace burn
