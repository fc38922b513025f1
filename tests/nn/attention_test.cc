// Attention, its masks, and the layers of a transformer.
#include <cmath>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using test::spread_tensor;
using test::values;
using ::testing::Each;
using ::testing::ElementsAre;

nn::MultiHeadAttentionConfig config() { return {.d_model = 8, .n_heads = 2, .dropout = 0}; }

TEST(Attention, IsWhatTheScoresSay) {
  const auto q = spread_tensor<4>({2, 1, 5, 4}, cpu()), k = spread_tensor<4>({2, 3, 7, 4}, cpu(), 1);
  const auto v = spread_tensor<4>({1, 3, 7, 6}, cpu(), 2);
  const auto mask = spread_tensor<4>({2, 1, 5, 7}, cpu(), 3).greater(0.5);
  const auto bias = spread_tensor<4>({1, 3, 5, 7}, cpu(), 4);
  for (const bool is_causal : {false, true}) {
    const AttentionOptions options{.scale = 0.7, .is_causal = is_causal};
    const auto y = module::attention<4>(q, k, v, mask, bias, options);
    EXPECT_THAT(y.dims(), ElementsAre(2, 3, 5, 6));
    expect_near(y, values(module::attention_fallback<4>(q, k, v, mask, bias, options)), 1e-6);
  }
}

TEST(Attention, AQueryThatSeesNothingGivesZeroAndNoGradient) {
  const auto q = spread_tensor<3>({1, 4, 2}, ad()).require_grad();
  const auto k = spread_tensor<3>({1, 2, 2}, ad()).require_grad();
  const auto y = module::attention<3>(q, k, k, std::nullopt, std::nullopt,
                                      {.is_causal = true});  // the first two queries see no key
  EXPECT_THAT(values(y.narrow(1, 0, 2)), Each(0));
  const auto gradients = y.sum().backward();
  EXPECT_THAT(values((*q.grad(gradients)).narrow(1, 0, 2)), Each(0));
  for (const double g : values(*k.grad(gradients))) EXPECT_TRUE(std::isfinite(g));
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const auto x = [](const std::array<std::int64_t, 3>& dims) { return Tensor<3>::ones(dims, cpu()); };
  EXPECT_EQ(error_of([&] {
              (void)module::attention<3>(x({2, 3, 4}), x({2, 5, 3}), x({2, 5, 4}));
            }),
            "attention: queries and keys do not fit: f32[2, 3, 4], f32[2, 5, 3], f32[2, 5, 4]");
  EXPECT_EQ(error_of([&] {
              (void)module::attention<3>(x({2, 3, 4}), x({3, 5, 4}), x({2, 5, 4}));
            }),
            "attention: f32[3, 5, 4] does not repeat to [2, 5, 4]");
}

TEST(MultiHeadAttention, ContextIsTheWeightedMeanOfTheValues) {
  const auto layer = config().init(cpu());
  const auto x = spread_tensor<3>({2, 5, 8}, cpu());
  const auto causal = [&] {
    auto input = nn::MhaInput::self_attn(x);
    input.is_causal = true;
    return layer(input);
  }();
  auto input = nn::MhaInput::self_attn(x);
  input.mask_attn = nn::generate_autoregressive_mask(2, 5, cpu());
  const auto masked = layer(input);
  EXPECT_THAT(causal.weights.dims(), ElementsAre(2, 2, 5, 5));
  expect_near(causal.weights, values(masked.weights), 1e-6);
  expect_near(causal.context, values(masked.context), 1e-6);
  const auto v = layer.value(x).reshape<4>({2, 5, 2, 4}).swap_dims(1, 2);
  const auto by_hand = layer.output(causal.weights.matmul(v).swap_dims(1, 2).reshape<3>({2, 5, 8}));
  expect_near(causal.context, values(by_hand), 1e-6);
}

TEST(MultiHeadAttention, HidesPaddedKeys) {
  const auto layer = config().init(cpu());
  const auto x = spread_tensor<3>({1, 4, 8}, cpu());
  auto input = nn::MhaInput::self_attn(x);
  input.mask_pad = Tensor<2, Bool>::from_data({{false, false, true, true}}, cpu());
  const auto padded = layer(input);
  EXPECT_THAT(values(padded.weights.narrow(3, 2, 2)), Each(0));
  auto without = nn::MhaInput::self_attn(x.narrow(1, 0, 2));
  without.query = x;
  expect_near(padded.context, values(layer(without).context), 1e-6);
}

TEST(MultiHeadAttention, HasTheRightGradientsWithAndWithoutTheWeights) {
  const auto layer = config().init(cpu());
  const auto x = spread_tensor<3>({1, 3, 8}, cpu());
  const auto causal = [](const auto& m, const auto& in) {
    auto input = nn::MhaInput::self_attn(in);
    input.is_causal = true;
    return m(input).context;
  };
  test::expect_gradients(layer, x, causal);
  auto quiet = config();
  quiet.quiet_softmax = true;
  test::expect_gradients(quiet.init(cpu()), x, causal);
}

TEST(MultiHeadAttention, DropsWeightsInTrainingOnly) {
  auto dropping = config();
  dropping.dropout = 0.5;
  const auto layer = dropping.init(ad());
  const auto input = nn::MhaInput::self_attn(spread_tensor<3>({1, 6, 8}, ad()));
  EXPECT_NE(values(layer(input).context), values(layer(input).context));
  const auto valid = layer.valid();
  const auto off = nn::MhaInput::self_attn(spread_tensor<3>({1, 6, 8}, cpu()));
  EXPECT_EQ(values(valid(off).context), values(valid(off).context));
}

TEST(MultiHeadAttention, HeadsDivideTheModel) {
  EXPECT_EQ(error_of([] { (void)nn::MultiHeadAttentionConfig{.d_model = 8, .n_heads = 3}.init(cpu()); }),
            "MultiHeadAttentionConfig: 3 heads do not divide d_model 8");
}

TEST(PositionWiseFeedForward, IsTwoLayersWithAnActivationBetween) {
  for (const std::string name : {"gelu", "gelu_approximate", "relu", "silu", "mish", "glu", "swi_glu", "prelu"}) {
    const auto layer =
        nn::PositionWiseFeedForwardConfig{.d_model = 4, .d_ff = 6, .dropout = 0, .activation = name}.init(cpu());
    test::expect_gradients(layer, spread_tensor<3>({1, 2, 4}, cpu()),
                           [](const auto& m, const auto& x) { return m(x); });
  }
  EXPECT_EQ(
      error_of(
          [] { (void)nn::PositionWiseFeedForwardConfig{.d_model = 4, .d_ff = 6, .activation = "none"}.init(cpu()); }),
      "ActivationConfig: there is no kind \"none\"; there are: relu, relu6, sigmoid, log_sigmoid, tanh, silu, mish, "
      "hard_swish, softsign, tanhshrink, selu, gelu, gelu_approximate, leaky_relu, elu, celu, softplus, "
      "hard_sigmoid, hardtanh, hard_shrink, soft_shrink, shrink, threshold, thresholded_relu, rrelu, glu, prelu, "
      "swi_glu");
  EXPECT_EQ(error_of([] {
              (void)nn::PositionWiseFeedForwardConfig{.d_model = 4, .d_ff = 5, .activation = "glu"}.init(cpu());
            }),
            "PositionWiseFeedForwardConfig: d_ff is 5, must be even for glu");
}

TEST(TransformerEncoder, TakesAnyActivationByNameOrWithNumbers) {
  const nn::TransformerEncoderConfig config{
      .d_model = 4,
      .d_ff = 6,
      .n_heads = 2,
      .n_layers = 1,
      .activation = nn::ActivationConfig{.kind = "leaky_relu", .negative_slope = 0.5}};
  const auto loaded = nn::TransformerEncoderConfig::from_json(config.to_json());
  EXPECT_EQ(loaded.activation.kind, "leaky_relu");
  EXPECT_EQ(loaded.activation.negative_slope, 0.5);
  EXPECT_EQ(nn::TransformerEncoderConfig::from_json(R"({"activation": "mish"})").activation.kind, "mish");
  EXPECT_NO_THROW((void)loaded.init(cpu()));
}

nn::TransformerEncoderConfig encoder(bool norm_first) {
  return {.d_model = 8, .d_ff = 12, .n_heads = 2, .n_layers = 2, .dropout = 0, .norm_first = norm_first};
}

TEST(TransformerEncoder, HasTheRightGradients) {
  for (const bool norm_first : {false, true}) {
    test::expect_gradients(
        encoder(norm_first).init(cpu()), spread_tensor<3>({1, 3, 8}, cpu()),
        [](const auto& m, const auto& x) { return m({.tensor = x, .is_causal = true}); }, 1e-5);
  }
}

TEST(TransformerEncoder, APositionKnowsNothingOfWhatComesAfterIt) {
  const auto net = encoder(true).init(cpu());
  const auto x = spread_tensor<3>({1, 5, 8}, cpu());
  const auto whole = net({.tensor = x, .is_causal = true}),
             part = net({.tensor = x.narrow(1, 0, 3), .is_causal = true});
  expect_near(part, values(whole.narrow(1, 0, 3)), 1e-5);
}

TEST(TransformerEncoder, RecordsNameItsLayers) {
  const auto net = encoder(false).init(cpu());
  EXPECT_EQ(net.num_params(), 2 * (4 * (64 + 8) + 8 * 12 + 12 + 12 * 8 + 8 + 4 * 8));
  const auto record = net.into_record();
  const auto again = encoder(false).init(cpu()).load_record(record);
  const auto x = spread_tensor<3>({1, 3, 8}, cpu());
  EXPECT_EQ(values(again({.tensor = x})), values(net({.tensor = x})));
}

}  // namespace
}  // namespace burn
