// apply() of layers: the results of forward(), for tensors whose rank is not known at compile time.
#include <functional>

#include "client/ops/formula.h"
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using client::Value;
using test::cpu;
using test::expect_near;
using test::spread_tensor;
using test::values;
using ::testing::HasSubstr;

const client::Site kSite{"model.cc", 41};

// The message of the error that `body` throws, with the call site at its end.
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

template <int D>
void expect_same(const Value& given, const Tensor<D>& wanted) {
  expect_near(Tensor<D>{given}, values(wanted), 0);
}

TEST(RankFree, IsWhatForwardGives) {
  const auto x = spread_tensor<3>({2, 4, 8}, cpu());
  const auto linear = nn::LinearConfig{.d_input = 8, .d_output = 3}.init(cpu());
  expect_same(linear.apply(x.value(), kSite), linear(x));
  const auto conv = nn::Conv1dConfig{.channels_in = 4, .channels_out = 2, .kernel_size = 3}.init(cpu());
  expect_same(conv.apply(x.value(), kSite), conv(x));
  const auto pool = nn::AdaptiveMaxPool1dConfig{.output_size = 2}.init();
  expect_same(pool.apply(x.value(), kSite), pool(x));
  const auto norm = nn::NormalizationConfig{.instance = nn::InstanceNormConfig{.num_channels = 4}}.init(cpu());
  expect_same(norm.apply(x.value(), kSite), norm(x));
  const nn::HuberLoss loss;
  expect_same(loss.apply(x.value(), (x * 2).value(), std::nullopt, kSite), loss.forward_no_reduction(x, x * 2));
}

TEST(RankFree, AttentionAndTransformersTakeMasks) {
  const auto x = spread_tensor<3>({2, 4, 8}, cpu());
  const auto pad = Tensor<2, Bool>::from_data(
      TensorData(std::vector<bool>{false, false, false, true, false, false, true, true}, {2, 4}), cpu());
  const nn::TransformerEncoderConfig config{.d_model = 8, .d_ff = 16, .n_heads = 2, .n_layers = 2, .dropout = 0};
  const auto encoder = config.init(cpu());
  const nn::TransformerEncoderInput input{.tensor = x, .mask_pad = pad, .is_causal = true};
  expect_same(encoder.apply(input.values(), kSite), encoder(input));
  EXPECT_NE(values(encoder(input)), values(encoder({.tensor = x, .is_causal = true})));

  const auto& mha = encoder.layers[0].mha;
  nn::MhaInput asked = nn::MhaInput::self_attn(x);
  asked.mask_pad = pad;
  const auto found = mha.apply(asked.values(), kSite);
  expect_same(found.context, mha(asked).context);
  expect_same(found.weights, mha(asked).weights);
}

TEST(RankFree, RecurrentLayersTakeStates) {
  const auto x = spread_tensor<3>({2, 4, 3}, cpu());
  const auto layer = nn::BiLstmConfig{.d_input = 3, .d_hidden = 2}.init(cpu());
  const auto [once, state] = layer(x);
  const auto again = layer.apply(x.value(), {state.cell.value(), state.hidden.value()}, kSite);
  const auto [states, last] = layer.forward(x, state);
  expect_same(again.states, states);
  expect_same(again.last.at(0), last.cell);
  expect_same(again.last.at(1), last.hidden);
  EXPECT_THAT(message_of([&] { layer.forward_layer.apply(x.value(), {x.value()}, kSite); }),
              HasSubstr("Lstm: a state of 1 tensors, must be of 2"));
}

TEST(RankFree, TheFirstOfTwoDirectionsMayBeTheReverseOne) {
  const auto layer = nn::BiGruConfig{.d_input = 3, .d_hidden = 2, .reverse = true}.init(cpu());
  EXPECT_TRUE(layer.forward_layer.reverse);
  EXPECT_FALSE(layer.reverse_layer.reverse);
}

TEST(RankFree, AnotherRankIsAnErrorWithTheCallSite) {
  const auto x = spread_tensor<2>({4, 8}, cpu());
  const auto conv = nn::Conv1dConfig{.channels_in = 4, .channels_out = 2, .kernel_size = 3}.init(cpu());
  const auto error = message_of([&] { conv.apply(x.value(), kSite); });
  EXPECT_THAT(error, HasSubstr("f32[4, 8] has rank 2, must be 3"));
  EXPECT_THAT(error, HasSubstr("model.cc:41"));
}

struct Scale {
  Param<1> factor;
  BURN_MODULE(Scale, factor)
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  Value apply(const Value& x, const client::Site& site) const {
    const client::SiteScope scope{site};
    return x * client::reshape(factor.slot().value, ir::Shape::filled(x.rank(), 1), site);
  }
};

TEST(RankFree, ALayerOfOnesOwnIsApplyAndAMacro) {
  const Scale layer{.factor = Tensor<1>::full({1}, 3, cpu())};
  const auto x = spread_tensor<2>({2, 2}, cpu());
  expect_near(layer(x), values(x * 3), 0);
  expect_near(layer.forward(x.reshape<3>({2, 1, 2})), values(x * 3), 0);
}

TEST(SiteScope, IsThatOfTheInnermostScopeWithALine) {
  EXPECT_EQ(client::current_site().file, nullptr);
  const client::SiteScope outer{kSite};
  {
    const client::SiteScope unknown{client::Site{}};
    EXPECT_EQ(client::current_site().line, 41);
    const client::SiteScope inner{client::Site{"model.cc", 42}};
    EXPECT_EQ(client::current_site().line, 42);
  }
  EXPECT_EQ(client::current_site().line, 41);
}

TEST(SiteScope, ErrorsOfFormulasNameItsLine) {
  const Value a = spread_tensor<1>({3}, cpu()).value(), b = spread_tensor<1>({4}, cpu()).value();
  const client::SiteScope scope{kSite};
  EXPECT_THAT(message_of([&] { (void)(a + b); }), HasSubstr("model.cc:41"));
}

}  // namespace
}  // namespace burn
