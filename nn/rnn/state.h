// What recurrent layers carry from step to step, as values that callers keep, cut and stack.
#pragma once

#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::nn {

// [batch, d_hidden] for one direction of one layer, with leading dims where several are stacked.
template <int D>
struct RnnState {
  Tensor<D> hidden;

  static RnnState initial(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return {Tensor<D>::zeros(dims, options, where)};
  }
};

template <int D>
struct LstmState {
  Tensor<D> cell, hidden;

  // Zeros.
  static LstmState initial(const Dims<D>& dims, const TensorOptions& options, Loc where = Loc::current()) {
    return {Tensor<D>::zeros(dims, options, where), Tensor<D>::zeros(dims, options, where)};
  }
  std::pair<Tensor<D>, Tensor<D>> unpack() const { return {cell, hidden}; }
  // What `f` makes of both tensors.
  template <typename F>
  auto map_state(F&& f) const {
    using Result = decltype(f(cell));
    return LstmState<Result::kRank>{f(cell), f(hidden)};
  }

  LstmState slice(const std::vector<Range>& ranges, Loc where = Loc::current()) const {
    return map_state([&](const Tensor<D>& x) { return Tensor<D>{client::slice(x.value(), ranges, at(where))}; });
  }
  LstmState<D - 1> squeeze_dim(int dim, Loc where = Loc::current()) const
    requires(D >= 2)
  {
    return map_state([&](const Tensor<D>& x) {
      return Tensor<D - 1>{
          client::squeeze(x.value(), {client::normalize_axis(dim, x.value(), "squeeze_dim", at(where))}, at(where))};
    });
  }
  LstmState<D + 1> unsqueeze_dim(int dim, Loc where = Loc::current()) const {
    return map_state([&](const Tensor<D>& x) { return Tensor<D + 1>{client::unsqueeze(x.value(), {dim}, at(where))}; });
  }
  static LstmState<D + 1> stack(const std::vector<LstmState>& states, int dim, Loc where = Loc::current()) {
    std::vector<client::Value> cells, hiddens;
    for (const auto& state : states) {
      cells.push_back(state.cell.value());
      hiddens.push_back(state.hidden.value());
    }
    return {Tensor<D + 1>{client::stack(cells, dim, at(where))}, Tensor<D + 1>{client::stack(hiddens, dim, at(where))}};
  }
  // At most `chunks` parts of one size along a dim, but for the last, which may be smaller.
  std::vector<LstmState> chunk(std::int64_t chunks, int dim, Loc where = Loc::current()) const {
    const auto axis = client::normalize_axis(dim, cell.value(), "chunk", at(where));
    const auto size = cell.value().dim(axis);
    const auto part = std::max<std::int64_t>((size + chunks - 1) / std::max<std::int64_t>(chunks, 1), 1);
    std::vector<LstmState> result;
    for (std::int64_t start = 0; start < size; start += part) {
      result.push_back(map_state([&](const Tensor<D>& x) {
        return Tensor<D>{client::narrow(x.value(), axis, start, std::min(part, size - start), at(where))};
      }));
    }
    return result;
  }
};

}  // namespace burn::nn
