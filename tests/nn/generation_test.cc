// Attention and transformers step by step, with caches: the same numbers as for the whole sequence at once.
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using test::spread_tensor;
using test::values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kModel = 8;

TEST(Generation, AttentionWithACacheIsAttentionOfTheWholeSequence) {
  const auto mha = nn::MultiHeadAttentionConfig{.d_model = kModel, .n_heads = 2, .dropout = 0}.init(cpu());
  const auto x = spread_tensor<3>({2, 5, kModel}, cpu());
  auto whole = nn::MhaInput::self_attn(x);
  whole.is_causal = true;
  const auto expected = values(mha(whole).context);
  for (const bool is_masked : {false, true}) {
    auto cache = nn::MhaCache::autoregressive();
    nn::MhaOutput last;
    for (const std::int64_t length : {2, 3, 5}) {  // some calls add several positions at once
      auto input = nn::MhaInput::self_attn(x.narrow(1, 0, length));
      if (is_masked)
        input.mask_attn = nn::generate_autoregressive_mask(2, length, cpu());
      else
        input.is_causal = true;
      last = mha.forward_cache(input, cache);
    }
    EXPECT_THAT(last.weights.dims(), ElementsAre(2, 2, 2, 5));
    expect_near(last.context, expected, 1e-5);
    EXPECT_EQ(cache.key.length(), 5);
  }
}

TEST(Generation, TheEncoderAndTheDecoderSayTheSameStepByStep) {
  const auto x = spread_tensor<3>({2, 4, kModel}, cpu()), memory = spread_tensor<3>({2, 3, kModel}, cpu(), 1);
  const auto hidden = spread_tensor<2>({2, 3}, cpu(), 2).greater(0.6);
  for (const bool norm_first : {false, true}) {
    const auto encoder =
        nn::TransformerEncoderConfig{
            .d_model = kModel, .d_ff = 16, .n_heads = 2, .n_layers = 2, .dropout = 0, .norm_first = norm_first}
            .init(cpu());
    auto kept = encoder.new_autoregressive_cache();
    const auto decoder =
        nn::TransformerDecoderConfig{
            .d_model = kModel, .d_ff = 16, .n_heads = 2, .n_layers = 2, .dropout = 0, .norm_first = norm_first}
            .init(cpu());
    auto remembered = decoder.new_autoregressive_cache();
    const auto said = [&](std::int64_t length) {
      return nn::TransformerDecoderInput{
          .target = x.narrow(1, 0, length), .memory = memory, .memory_mask_pad = hidden, .is_causal = true};
    };
    Tensor<3> encoded, decoded;
    for (std::int64_t length = 1; length <= 4; ++length) {
      encoded = encoder.forward_autoregressive_inference({.tensor = x.narrow(1, 0, length), .is_causal = true}, kept);
      decoded = decoder.forward_autoregressive_inference(said(length), remembered);
    }
    expect_near(encoded, values(encoder({.tensor = x, .is_causal = true})), 1e-5);
    expect_near(decoded, values(decoder(said(4))), 1e-5);
  }
}

// The layer by hand: each part is added to its input, which is normalised before the part, or after the addition.
TEST(Generation, ADecoderLayerIsWhatItsPartsSay) {
  const nn::TransformerDecoderConfig config{.d_model = kModel, .d_ff = 16, .n_heads = 2, .n_layers = 1, .dropout = 0};
  auto layer = config.init_layer(cpu());
  const auto x = spread_tensor<3>({1, 3, kModel}, cpu()), memory = spread_tensor<3>({1, 2, kModel}, cpu(), 1);
  for (const bool norm_first : {false, true}) {
    layer.norm_first = norm_first;
    const auto a = norm_first ? layer.norm_3(x) : x;
    auto y = x + layer.self_attn(nn::MhaInput::self_attn(a)).context;
    if (!norm_first) y = layer.norm_1(y);
    const auto b = norm_first ? layer.norm_1(y) : y;
    y = y + layer.cross_attn({.query = b, .key = memory, .value = memory}).context;
    if (!norm_first) y = layer.norm_2(y);
    y = y + layer.pwff(norm_first ? layer.norm_2(y) : y);
    if (!norm_first) y = layer.norm_3(y);
    expect_near(layer.forward({.target = x, .memory = memory}), values(y), 1e-6);
  }
}

TEST(Generation, ACacheOfAnotherDecoderIsAnError) {
  const nn::TransformerDecoderConfig config{.d_model = kModel, .d_ff = 16, .n_heads = 2, .n_layers = 2};
  const auto decoder = config.init(cpu());
  nn::TransformerDecoderAutoregressiveCache cache;
  const auto x = spread_tensor<3>({1, 2, kModel}, cpu());
  EXPECT_THAT(error_of([&] { (void)decoder.forward_autoregressive_inference({.target = x, .memory = x}, cache); }),
              HasSubstr("forward_autoregressive_inference: a cache of 0 layers for 2"));
}

// Four heads of queries with two of keys and values equal four of each in which neighbours are the same.
TEST(Generation, CrossAttentionSharesHeadsOfKeys) {
  const auto few =
      nn::CrossAttentionConfig{.d_model = 6, .d_context = 5, .n_heads = 4, .n_heads_kv = 2, .d_head = 3, .dropout = 0}
          .init(cpu());
  auto many = few;
  many.n_heads_kv = 4;
  const auto twice = [](const nn::Linear& linear) {  // [5, 2 * 3] -> [5, 4 * 3], repeats each head
    const auto weight = linear.weight.val().reshape<4>({5, 2, 1, 3}).expand<4>({5, 2, 2, 3}).reshape<2>({5, 12});
    const auto bias = linear.bias->val().reshape<3>({2, 1, 3}).expand<3>({2, 2, 3}).reshape<1>({12});
    return nn::Linear{.weight = weight, .bias = bias};
  };
  many.key = twice(few.key), many.value = twice(few.value);
  const auto x = spread_tensor<3>({2, 3, 6}, cpu()), context = spread_tensor<3>({2, 4, 5}, cpu(), 1);
  const auto mask = spread_tensor<2>({2, 4}, cpu(), 2).greater(0.5);
  const auto y = few(x, context, mask);
  EXPECT_THAT(y.dims(), ElementsAre(2, 3, 6));
  expect_near(y, values(many(x, context, mask)), 1e-5);
  nn::CrossAttentionCache cache;
  (void)few.forward_cache(x.narrow(1, 0, 1), context, mask, cache);
  expect_near(few.forward_cache(x, context, mask, cache), values(y), 1e-6);
  EXPECT_THAT(
      error_of([] {
        (void)nn::CrossAttentionConfig{.d_model = 6, .d_context = 5, .n_heads = 3, .n_heads_kv = 2, .d_head = 3}.init(
            cpu());
      }),
      HasSubstr("2 heads of keys do not divide 3 heads of queries"));
}

TEST(Generation, APaddingMaskCutsAndFills) {
  const std::vector<std::vector<std::int64_t>> tokens{{1, 2, 3}, {4}, {}};
  const auto free = nn::generate_padding_mask(9, tokens, nn::SeqLengthOption::no_max(), cpu());
  EXPECT_THAT(values(free.tensor), ElementsAre(1, 2, 3, 4, 9, 9, 9, 9, 9));
  EXPECT_THAT(values(free.mask), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1));
  EXPECT_THAT(nn::generate_padding_mask(9, tokens, nn::SeqLengthOption::at_most(2), cpu()).tensor.dims(),
              ElementsAre(3, 2));
  EXPECT_THAT(values(nn::generate_padding_mask(9, {{1, 2, 3}}, nn::SeqLengthOption::exactly(5), cpu()).mask),
              ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(error_of([] { (void)nn::generate_padding_mask(9, {}, {}, cpu()); }), HasSubstr("no sequence"));
}

}  // namespace
}  // namespace burn
