// A recurrent network built by hand: LSTM cells with layer normalization of gates and states (Ba, Kiros and Hinton,
// arXiv:1607.06450), in bidirectional layers with dropout between them.
#pragma once

#include <utility>
#include <vector>

#include <burn/burn.h>

#include "examples/modern-lstm/sequences.h"

namespace modern_lstm {

struct CellState {
  Tensor<2> hidden, cell;  // [batch, hidden]
};

struct LstmCell {
  nn::Linear of_input, of_hidden;  // for all four gates at once
  nn::LayerNorm input_norm, hidden_norm, cell_norm;
  BURN_MODULE(LstmCell, of_input, of_hidden, input_norm, hidden_norm, cell_norm)

  static LstmCell init(std::int64_t d_input, std::int64_t d_hidden, const Device& device) {
    const auto linear = [&](std::int64_t d) {
      return nn::LinearConfig{.d_input = d, .d_output = 4 * d_hidden}.init(device);
    };
    const auto norm = [&](std::int64_t d) { return nn::LayerNormConfig{.d_model = d}.init(device); };
    return {.of_input = linear(d_input),
            .of_hidden = linear(d_hidden),
            .input_norm = norm(4 * d_hidden),
            .hidden_norm = norm(4 * d_hidden),
            .cell_norm = norm(d_hidden)};
  }
  // `gates`: the output of of_input for the step, [batch, 4 hidden].
  CellState step(const Tensor<2>& gates, const CellState& before) const {
    const auto all = (input_norm(gates) + hidden_norm(of_hidden(before.hidden))).chunk(4, 1);
    const auto cell = all[0].sigmoid() * before.cell + all[1].sigmoid() * all[2].tanh();
    return {all[3].sigmoid() * cell_norm(cell).tanh(), cell};
  }
  // [batch, time, input] -> [batch, time, hidden]; `backward`: from the last step to the first.
  Tensor<3> forward(const Tensor<3>& x, bool backward) const {
    const auto time = x.dim(1), d_hidden = of_hidden.weight.val().dim(0);
    const auto gates = of_input(x);  // all steps in one matmul
    CellState state{Tensor<2>::zeros({x.dim(0), d_hidden}, x.device()),
                    Tensor<2>::zeros({x.dim(0), d_hidden}, x.device())};
    std::vector<Tensor<2>> hidden(static_cast<std::size_t>(time));
    for (std::int64_t i = 0; i < time; ++i) {
      const auto t = backward ? time - 1 - i : i;
      state = step(gates.select_dim<2>(1, t), state);
      hidden[static_cast<std::size_t>(t)] = state.hidden;
    }
    return Tensor<2>::stack(hidden, 1);
  }
};

// One layer in both directions: [batch, time, input] -> [batch, time, 2 hidden].
struct Layer {
  LstmCell forward_cell, backward_cell;
  BURN_MODULE(Layer, forward_cell, backward_cell)

  Tensor<3> forward(const Tensor<3>& x) const {
    return Tensor<3>::cat({forward_cell.forward(x, false), backward_cell.forward(x, true)}, 2);
  }
};

struct Net {
  std::vector<Layer> layers;
  nn::Dropout dropout;
  nn::Linear output;
  BURN_MODULE(Net, layers, dropout, output)

  // [batch, time, 1] -> [batch, 1]
  Tensor<2> forward(const Tensor<3>& numbers) const {
    auto x = numbers;
    for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].forward(i == 0 ? x : dropout(x));
    return output(x.select_dim<2>(1, x.dim(1) - 1));
  }
  burn::train::RegressionOutput step(const SequenceBatch& batch) const {
    const auto answers = forward(batch.numbers);
    return {nn::MseLoss{}(answers, batch.next), answers, batch.next};
  }
};

struct NetConfig {
  std::int64_t hidden = 32, layers = 2;
  double dropout = 0.1;
  BURN_CONFIG(NetConfig, hidden, layers, dropout)

  Net init(const Device& device) const {
    std::vector<Layer> all;
    for (std::int64_t i = 0; i < layers; ++i) {
      const auto d_input = i == 0 ? 1 : 2 * hidden;
      all.push_back({LstmCell::init(d_input, hidden, device), LstmCell::init(d_input, hidden, device)});
    }
    return {.layers = std::move(all),
            .dropout = nn::DropoutConfig{.prob = dropout}.init(),
            .output = nn::LinearConfig{.d_input = 2 * hidden, .d_output = 1}.init(device)};
  }
};

}  // namespace modern_lstm
