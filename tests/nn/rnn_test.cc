// Recurrent layers against their formulas step by step; both directions, options, gradients, refused arguments.
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;

// The input of one gate's activation in one step: x W + b + h U + c.
Tensor<2> sum(const nn::GateController& gate, const Tensor<2>& x, const Tensor<2>& h) {
  return gate.input_transform(x) + gate.hidden_transform(h);
}
Tensor<2> at_time(const Tensor<3>& x, std::int64_t t) {
  const auto [batch, time, width] = x.dims();
  return x.slice({s(), s(t, t + 1)}).template reshape<2>({batch, width});
}

TEST(Lstm, IsItsFormulaStepByStep) {
  cpu().seed(1);
  const auto layer = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  auto c = Tensor<2>::zeros({2, 2}, cpu()), h = c;
  const auto [states, last] = layer.forward(x);
  for (int t = 0; t < 4; ++t) {
    const auto i = sum(layer.input_gate, at_time(x, t), h).sigmoid(),
               f = sum(layer.forget_gate, at_time(x, t), h).sigmoid();
    const auto o = sum(layer.output_gate, at_time(x, t), h).sigmoid(),
               g = sum(layer.cell_gate, at_time(x, t), h).tanh();
    c = f * c + i * g;
    h = o * c.tanh();
    expect_near(at_time(states, t), test::values(h));
  }
  expect_near(last.cell, test::values(c));
  expect_near(last.hidden, test::values(h));
}

TEST(Gru, IsItsFormulaStepByStepWithTheResetBeforeAndAfter) {
  for (const bool after : {true, false}) {
    cpu().seed(2);
    const auto layer = nn::GruConfig{.d_input = 3, .d_hidden = 2, .reset_after = after}.init(cpu());
    const auto x = test::spread_tensor<3>({2, 3, 3}, cpu());
    auto h = Tensor<2>::zeros({2, 2}, cpu());
    const auto states = layer.forward(x);
    for (int t = 0; t < 3; ++t) {
      const auto now = at_time(x, t);
      const auto z = sum(layer.update_gate, now, h).sigmoid(), r = sum(layer.reset_gate, now, h).sigmoid();
      const auto of_x = layer.new_gate.input_transform(now);
      const auto n =
          (after ? of_x + r * layer.new_gate.hidden_transform(h) : of_x + layer.new_gate.hidden_transform(r * h))
              .tanh();
      h = n * (1.0 - z) + z * h;
      expect_near(at_time(states, t), test::values(h));
    }
    // The same in two calls, the second of which starts from the state of the first.
    const auto [begin, at_one] = layer.forward_with_state(x.slice({{0, 2}, {0, 1}}));
    const auto [rest, last] = layer.forward_with_state(x.slice({{0, 2}, {1, 3}}), at_one);
    expect_near(rest, test::values(states.slice({{0, 2}, {1, 3}})));
    expect_near(last, test::values(h));
    EXPECT_EQ(begin.dims(), (std::array<std::int64_t, 3>{2, 1, 2}));
  }
}

TEST(RecurrentLayers, OnTopOfEachOtherWorkOnTheStatesOfTheOneBelow) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  const auto layers = nn::LstmConfig{.d_input = 3, .d_hidden = 2, .n_layers = 3}.init(cpu());
  ASSERT_EQ(layers.above.size(), 2u);
  auto bottom = layers;
  bottom.above.clear();
  const auto [all, last] = layers.forward(x);
  const auto first = bottom.forward(x), second = layers.above[0].forward(first.first),
             third = layers.above[1].forward(second.first);
  expect_near(all, test::values(third.first));
  EXPECT_EQ(last.hidden.dims(), (std::array<std::int64_t, 2>{6, 2}));
  expect_near(last.cell.slice({s(2, 4)}), test::values(second.second.cell));
  expect_near(last.hidden.slice({s(4, 6)}), test::values(third.second.hidden));
  // The same in two halves, the second of which starts from the state of the first.
  const auto half = layers.forward(x.slice({s(), s(0, 2)}));
  const auto rest = layers.forward(x.slice({s(), s(2, 4)}), half.second);
  expect_near(rest.first, test::values(all.slice({s(), s(2, 4)})));
  EXPECT_EQ(
      error_of([&] {
        (void)layers.forward(x, nn::LstmState<2>{Tensor<2>::zeros({2, 2}, cpu()), Tensor<2>::zeros({2, 2}, cpu())});
      }),
      "the state of 3 layers is f32[2, 2], its first dim must divide by their number");
}

TEST(RecurrentLayers, InBothDirectionsTakeBothStatesOfTheOnesBelow) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  const auto layers = nn::BiGruConfig{.d_input = 3, .d_hidden = 2, .n_layers = 2}.init(cpu());
  EXPECT_EQ(layers.above[0].forward_layer.new_gate.input_transform.weight.val().dims(),
            (std::array<std::int64_t, 2>{4, 2}));
  auto bottom = layers;
  bottom.above.clear();
  const auto [all, last] = layers.forward(x);
  const auto first = bottom.forward(x), second = layers.above[0].forward(first.first);
  expect_near(all, test::values(second.first));
  EXPECT_EQ(last.dims(), (std::array<std::int64_t, 3>{4, 2, 2}));
  expect_near(last.slice({s(2, 4)}), test::values(second.second));
}

TEST(RecurrentLayers, DropStatesBetweenThemInTrainingOnly) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, ad());
  const auto layers = nn::RnnConfig{.d_input = 3, .d_hidden = 8, .n_layers = 2, .dropout = 0.5}.init(ad());
  EXPECT_NE(test::values(layers.forward(x).first), test::values(layers.forward(x).first));
  const auto valid = layers.valid();
  EXPECT_EQ(test::values(valid.forward(x.inner()).first), test::values(valid.forward(x.inner()).first));
  EXPECT_EQ(error_of([] { (void)nn::RnnConfig{.d_input = 1, .d_hidden = 1, .n_layers = 0}.init(cpu()); }),
            "RnnConfig: n_layers is 0, must be at least 1");
}

TEST(Recurrence, BackwardsIsForwardsOfTheFlippedSequence) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  const auto flipped = Tensor<3>{client::flip(x.value(), std::vector<std::int64_t>{1}, {})};
  const auto flip = [](const Tensor<3>& y) {
    return Tensor<3>{client::flip(y.value(), std::vector<std::int64_t>{1}, {})};
  };
  auto lstm = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto there = lstm.forward(flipped);
  lstm.reverse = true;
  const auto back = lstm.forward(x);
  expect_near(back.first, test::values(flip(there.first)));
  expect_near(back.second.cell, test::values(there.second.cell));
  auto rnn = nn::RnnConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto forwards = rnn.forward(flipped);
  rnn.reverse = true;
  expect_near(rnn.forward(x).first, test::values(flip(forwards.first)));
}

TEST(Recurrence, InTimeFirstLayoutGivesTheSameNumbers) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  auto layer = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto batch_first = layer.forward(x);
  layer.batch_first = false;
  const auto time_first = layer.forward(x.swap_dims(0, 1));
  EXPECT_EQ(time_first.first.dims(), (std::array<std::int64_t, 3>{4, 2, 2}));
  expect_near(time_first.first.swap_dims(0, 1), test::values(batch_first.first));
  expect_near(time_first.second.hidden, test::values(batch_first.second.hidden));
}

TEST(Recurrence, GoesOnFromAState) {
  const auto x = test::spread_tensor<3>({2, 5, 3}, cpu());
  const auto layer = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto [whole, end] = layer.forward(x);
  const auto [first, middle] = layer.forward(x.slice({s(), s(0, 2)}));
  const auto [second, last] = layer.forward(x.slice({s(), s(2, 5)}), middle);
  expect_near(second, test::values(whole.slice({s(), s(2, 5)})));
  expect_near(last.cell, test::values(end.cell));
}

TEST(Recurrence, OfNoTimeAtAllIsTheStateGiven) {
  const auto layer = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const nn::LstmState<2> state{Tensor<2>::ones({4, 2}, cpu()), Tensor<2>::full({4, 2}, 2, cpu())};
  const auto [states, last] = layer.forward(Tensor<3>::zeros({4, 0, 3}, cpu()), state);
  EXPECT_EQ(states.dims(), (std::array<std::int64_t, 3>{4, 0, 2}));
  expect_near(last.hidden, std::vector<double>(8, 2));
}

TEST(Recurrence, OfBothDirectionsStandsSideBySide) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  const auto layer = nn::BiLstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto [both, state] = layer.forward(x);
  EXPECT_EQ(both.dims(), (std::array<std::int64_t, 3>{2, 4, 4}));
  EXPECT_EQ(state.cell.dims(), (std::array<std::int64_t, 3>{2, 2, 2}));
  expect_near(both.slice({s(), s(), s(0, 2)}), test::values(layer.forward_layer.forward(x).first));
  expect_near(both.slice({s(), s(), s(2, 4)}), test::values(layer.reverse_layer.forward(x).first));
  const auto [again, _] = layer.forward(x, state);
  EXPECT_EQ(again.dims(), both.dims());
  const nn::BiGruConfig gru{.d_input = 3, .d_hidden = 2};
  EXPECT_EQ(gru.init(cpu()).forward(x).first.dims(), both.dims());
  const nn::BiRnnConfig rnn{.d_input = 3, .d_hidden = 2};
  EXPECT_EQ(rnn.init(cpu()).forward(x).second.hidden.dims(), state.cell.dims());
}

TEST(Lstm, CouplesItsGatesAndClipsItsCells) {
  const auto x = test::spread_tensor<3>({2, 4, 3}, cpu());
  const auto coupled = nn::LstmConfig{.d_input = 3, .d_hidden = 2, .input_forget = true}.init(cpu());
  auto c = Tensor<2>::zeros({2, 2}, cpu()), h = c;
  for (int t = 0; t < 4; ++t) {
    const auto i = sum(coupled.input_gate, at_time(x, t), h).sigmoid();
    c = (1.0 - i) * c + i * sum(coupled.cell_gate, at_time(x, t), h).tanh();
    h = sum(coupled.output_gate, at_time(x, t), h).sigmoid() * c.tanh();
  }
  expect_near(coupled.forward(x).second.hidden, test::values(h));
  const auto clipped = nn::LstmConfig{.d_input = 3, .d_hidden = 2, .clip = 0.01}.init(cpu());
  for (const double cell : test::values(clipped.forward(x).second.cell)) EXPECT_LE(std::abs(cell), 0.0100001);
}

TEST(Recurrence, TakesOtherActivations) {
  const auto x = test::spread_tensor<3>({2, 1, 3}, cpu());
  const auto layer = nn::RnnConfig{.d_input = 3, .d_hidden = 2, .hidden_activation = {.kind = "relu"}}.init(cpu());
  expect_near(layer.forward(x).second.hidden,
              test::values(sum(layer.gate, at_time(x, 0), Tensor<2>::zeros({2, 2}, cpu())).relu()));
}

TEST(Recurrence, HasTheRightGradients) {
  const auto x = test::spread_tensor<3>({2, 5, 2}, cpu());  // enough steps for the weights to count as shared factors
  cpu().seed(5);
  const nn::LstmConfig lstm{.d_input = 2, .d_hidden = 2};
  test::expect_gradients(lstm.init(cpu()), x, [](const nn::Lstm& l, const Tensor<3>& y) { return l.forward(y).first; });
  for (const bool after : {true, false}) {
    const nn::GruConfig gru{.d_input = 2, .d_hidden = 2, .reset_after = after};
    test::expect_gradients(gru.init(cpu()), x, [](const nn::Gru& l, const Tensor<3>& y) { return l.forward(y); });
  }
  const nn::RnnConfig rnn{.d_input = 2, .d_hidden = 2, .batch_first = false, .reverse = true};
  test::expect_gradients(rnn.init(cpu()), x, [](const nn::Rnn& l, const Tensor<3>& y) { return l.forward(y).first; });
}

TEST(Recurrence, RefusesOtherFeaturesAndOtherStates) {
  const auto layer = nn::LstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  EXPECT_EQ(error_of([&] {
              layer.forward(Tensor<3>::zeros({2, 4, 5}, cpu()));
            }),
            "Lstm: the layer takes 3 features, the input is f32[2, 4, 5]");
  const nn::LstmState<2> state{Tensor<2>::zeros({1, 2}, cpu()), Tensor<2>::zeros({2, 2}, cpu())};
  EXPECT_EQ(error_of([&] {
              layer.forward(Tensor<3>::zeros({2, 4, 3}, cpu()), state);
            }),
            "Lstm: the cell state is f32[1, 2], must be f32[2, 2]");
  EXPECT_EQ(error_of([] { nn::LstmConfig{.d_input = 3, .d_hidden = 2, .clip = 0}.init(cpu()); }),
            "LstmConfig: clip is 0.000000, must be positive");
  EXPECT_THAT(
      error_of([] { nn::GruConfig{.d_input = 3, .d_hidden = 2, .gate_activation = {.kind = "step"}}.init(cpu()); }),
      ::testing::StartsWith("ActivationConfig: there is no kind \"step\"; there are: relu, relu6"));
}

TEST(LstmState, IsStackedCutAndMapped) {
  const nn::LstmState<2> one{Tensor<2>::ones({3, 2}, cpu()), Tensor<2>::zeros({3, 2}, cpu())};
  const auto both = nn::LstmState<2>::stack({one, one}, 0);
  EXPECT_EQ(both.cell.dims(), (std::array<std::int64_t, 3>{2, 3, 2}));
  const auto parts = both.chunk(2, 1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].hidden.dims(), (std::array<std::int64_t, 3>{2, 1, 2}));
  EXPECT_EQ(both.slice({s(0, 1)}).squeeze_dim(0).cell.dims(), one.cell.dims());
  EXPECT_EQ(one.unsqueeze_dim(1).cell.dims(), (std::array<std::int64_t, 3>{3, 1, 2}));
  expect_near(one.map_state([](const Tensor<2>& x) { return x + 1; }).hidden, std::vector<double>(6, 1));
}

}  // namespace
}  // namespace burn
