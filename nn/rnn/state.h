// The states of recurrent layers, as values that callers can keep, split and stack.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::nn {

// [batch, d_hidden] for one direction of one layer, with leading dims if several are stacked.
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
  // Applies `f` to both tensors.
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
  // Splits along a dim into at most `chunks` parts of equal size; the last one may be smaller.
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

// The result of a recurrent layer, without ranks: all hidden states, and the last state: hidden; for an Lstm cell and
// hidden.
struct RecurrentValues {
  client::Value states;
  std::vector<client::Value> last;

  explicit operator Tensor<3>() const { return Tensor<3>{states}; }
  template <typename State>
  explicit operator std::pair<Tensor<3>, State>() const;
};

namespace detail {

// tensors_of() lists the tensors of a state; put_tensors() is the inverse.
template <int D>
std::vector<client::Value> tensors_of(const Tensor<D>& state) {
  return {state.value()};
}
template <int D>
std::vector<client::Value> tensors_of(const RnnState<D>& state) {
  return {state.hidden.value()};
}
template <int D>
std::vector<client::Value> tensors_of(const LstmState<D>& state) {
  return {state.cell.value(), state.hidden.value()};
}
template <typename State>  // none: no tensors
std::vector<client::Value> tensors_of(const std::optional<State>& state) {
  return state ? tensors_of(*state) : std::vector<client::Value>{};
}

template <int D>
void put_tensors(const std::vector<client::Value>& tensors, Tensor<D>& state) {
  state = Tensor<D>{tensors[0]};
}
template <int D>
void put_tensors(const std::vector<client::Value>& tensors, RnnState<D>& state) {
  state.hidden = Tensor<D>{tensors[0]};
}
template <int D>
void put_tensors(const std::vector<client::Value>& tensors, LstmState<D>& state) {
  state = {Tensor<D>{tensors[0]}, Tensor<D>{tensors[1]}};
}

}  // namespace detail

template <typename State>
RecurrentValues::operator std::pair<Tensor<3>, State>() const {
  std::pair<Tensor<3>, State> result{Tensor<3>{states}, State{}};
  detail::put_tensors(last, result.second);
  return result;
}

}  // namespace burn::nn
