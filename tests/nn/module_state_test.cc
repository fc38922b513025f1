// State of a module: whether it is in training mode, and which of its parameters are frozen.
#include "nn/module/visit.h"
#include "store/pieces.h"
#include "tests/nn/nn_test.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::spread_tensor;
using test::values;
using ::testing::Each;

nn::Linear linear(const Device& device) { return nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device); }
Tensor<2> ones(const Device& device) { return Tensor<2>::ones({20, 20}, device); }

// Dropout in every kind of container that a module can have.
struct Deep {
  std::vector<nn::Dropout> list;
  std::optional<nn::Dropout> maybe;
  std::tuple<nn::Dropout, int> tuple;
  BURN_MODULE(Deep, list, maybe, tuple)

  Tensor<2> forward(const Tensor<2>& x) const { return std::get<0>(tuple)((*maybe)(list[0](x))); }
};

TEST(Training, OfAFreshLayerIsThatOfItsDevice) {
  const nn::Dropout dropout{.prob = 0.5};
  EXPECT_NE(values(dropout(ones(ad()))), values(ones(cpu())));
  EXPECT_EQ(values(dropout(ones(cpu()))), values(ones(cpu())));
}

TEST(Training, IsOffAfterValidWhateverTheInput) {
  const nn::Dropout dropout{.prob = 0.5};
  const Deep deep{{dropout}, dropout, {dropout, 1}};
  EXPECT_NE(values(deep.forward(ones(ad()))), values(ones(cpu())));
  for (const auto& device : {cpu(), ad()}) {
    EXPECT_EQ(values(dropout.valid()(ones(device))), values(ones(cpu())));
    EXPECT_EQ(values(deep.valid().forward(ones(device))), values(ones(cpu())));
    EXPECT_EQ(values(deep.valid().to_device(ad()).forward(ones(device))), values(ones(cpu())));
  }
}

TEST(Training, IsOnAfterTrainWhateverTheInput) {
  const auto dropout = nn::Dropout{.prob = 0.5}.valid().train();
  EXPECT_NE(values(dropout(ones(ad()))), values(ones(cpu())));
  EXPECT_NE(values(dropout(ones(cpu()))), values(ones(cpu())));
}

TEST(Training, OfATransformerIsOffAfterValid) {
  const nn::TransformerEncoderConfig config{.d_model = 8, .d_ff = 16, .n_heads = 2, .n_layers = 2, .dropout = 0.5};
  const auto encoder = config.init(ad());
  const auto x = spread_tensor<3>({2, 5, 8}, cpu());
  const auto run = [](const auto& module, const Tensor<3>& input) { return values(module({.tensor = input})); };
  const auto inference = encoder.valid();
  EXPECT_EQ(run(inference, Tensor<3>::from_inner(x)), run(inference, x));
  EXPECT_NE(run(encoder, Tensor<3>::from_inner(x)), run(inference, x));
  EXPECT_NE(run(inference.train(), Tensor<3>::from_inner(x)), run(inference, x));

  const auto attention = encoder.layers[0].mha;
  const auto attend = [](const nn::MultiHeadAttention& layer, const Tensor<3>& input) {
    const auto output = layer(nn::MhaInput::self_attn(input));
    return std::pair{values(output.weights), values(output.context)};
  };
  EXPECT_EQ(attend(attention.valid(), Tensor<3>::from_inner(x)), attend(attention.valid(), x));
  EXPECT_NE(attend(attention, Tensor<3>::from_inner(x)), attend(attention.valid(), x));
}

TEST(Training, OfABatchNormStaysOffOnAnAutodiffDevice) {
  const auto layer = nn::BatchNormConfig{.num_features = 2}.init(ad());
  const auto x = spread_tensor<2>({6, 2}, cpu());
  const auto moved = layer.valid().to_device(ad());
  EXPECT_TRUE(moved.gamma.val().is_require_grad());
  EXPECT_EQ(values(moved(x)), values(layer.valid()(x)));
  EXPECT_THAT(values(moved.running_mean.val()), Each(0));
  const auto training = layer.valid().train();
  EXPECT_EQ(values(training(x)), values(layer(x)));
  EXPECT_EQ(values(training.running_mean.val()), values(layer.running_mean.val()));
}

TEST(Frozen, ABatchNormInTrainingStillMovesItsStatistics) {
  auto layer = nn::BatchNormConfig{.num_features = 2}.init(ad()).no_grad();
  const auto x = spread_tensor<2>({6, 2}, ad());
  (void)layer(x);
  const auto moved = values(layer.running_mean.val());
  EXPECT_NE(moved, (std::vector<double>{0, 0}));
  layer.training.set(nn::Training::Mode::off);
  const auto y = layer(x);
  EXPECT_EQ(values(layer.running_mean.val()), moved);
  EXPECT_EQ(values(y), values(layer.valid()(x)));
}

TEST(Training, SurvivesCopiesRecordsAndDevices) {
  const auto inference = Deep{{{.prob = 0.5}}, nn::Dropout{}, {nn::Dropout{}, 1}}.valid();
  const auto other = inference.load_record(inference.into_record()).no_grad().require_grad().fork(ad());
  EXPECT_EQ(other.list[0].training.mode(), nn::Training::Mode::off);
  EXPECT_EQ(other.train().maybe->training.mode(), nn::Training::Mode::on);
}

TEST(Training, GoesOnWithParametersThatGradientsReach) {
  const auto layer = linear(ad());
  const auto again = layer.valid().train();
  EXPECT_TRUE(again.weight.val().is_require_grad());
  EXPECT_EQ(again.weight.id(), layer.weight.id());
  EXPECT_EQ(layer.train().weight.val().value().tape(), layer.weight.val().value().tape()) << "nothing to undo";
  EXPECT_TRUE(linear(cpu()).train().weight.val().is_require_grad());
}

struct Two {
  nn::Linear frozen, free;
  Param<1, Int> counts;
  BURN_MODULE(Two, frozen, free, counts)
};
Two two(const Device& device) {
  return {linear(device).no_grad(), linear(device), Tensor<1, Int>::from_data({1, 2}, device)};
}
void expect_first_frozen(const Two& module, const char* what) {
  EXPECT_FALSE(module.frozen.weight.val().is_require_grad()) << what;
  EXPECT_FALSE(module.frozen.bias->val().is_require_grad()) << what;
  EXPECT_TRUE(module.frozen.weight.val().device().is_autodiff()) << what;
  EXPECT_TRUE(module.free.weight.val().is_require_grad()) << what;
  EXPECT_FALSE(module.counts.val().is_require_grad()) << what;
}

TEST(Frozen, StaysFrozenWhateverBecomesOfTheModule) {
  const auto module = two(ad());
  const Device other = Device::new_session("cpu");
  expect_first_frozen(module, "fresh");
  expect_first_frozen(module.to_device(ad()), "to the same device");
  expect_first_frozen(module.to_device(other.autodiff()), "to another session");
  expect_first_frozen(module.to_device(cpu()).to_device(ad()), "by way of a device without a tape");
  expect_first_frozen(module.to_device(other).to_device(cpu()).fork(ad()), "forked");
  expect_first_frozen(module.valid().train(), "to inference and back");
  expect_first_frozen(module.valid().to_device(ad()), "from inference");
  expect_first_frozen(module.load_record(module.into_record()), "with other numbers");
  expect_first_frozen(module.valid().load_record(module.into_record()).train(), "with other numbers for inference");
  expect_first_frozen(two(cpu()).to_device(ad()), "frozen where there is no tape");
  EXPECT_TRUE(two(cpu()).train().free.weight.val().is_require_grad());
}

TEST(Frozen, IsUndoneByRequireGrad) {
  const auto module = two(ad()).require_grad();
  EXPECT_TRUE(module.frozen.weight.val().is_require_grad());
  EXPECT_FALSE(module.counts.val().is_require_grad());
  EXPECT_TRUE(two(cpu()).require_grad().to_device(ad()).frozen.weight.val().is_require_grad());
}

TEST(Frozen, OfOneParameter) {
  auto layer = linear(ad());
  layer.weight = layer.weight.set_require_grad(false);
  EXPECT_FALSE(layer.to_device(ad()).weight.val().is_require_grad());
  EXPECT_TRUE(layer.to_device(ad()).bias->val().is_require_grad());
  layer.weight = layer.weight.set_require_grad(true);
  EXPECT_TRUE(layer.weight.val().is_require_grad());
}

struct Kinds {
  Param<1> numbers;
  Param<1, Int> counts;
  Param<1, Bool> flags;
  BURN_MODULE(Kinds, numbers, counts, flags)
};

TEST(LoadRecord, TakesNumbersOfTheSameKindOnly) {
  const Kinds module{Tensor<1>::ones({2}, cpu()), Tensor<1, Int>::from_data({1, 2}, {cpu(), DType::i32}),
                     Tensor<1, Bool>::from_data({true, false}, cpu())};
  const auto with = [&](const char* name, const TensorData& data) {
    auto record = module.into_record();
    record.insert(name, data);
    return error_of([&] { (void)module.load_record(record); });
  };
  const TensorData whole(std::vector<std::int64_t>{3, 4}, {2}), bytes(std::vector<std::uint8_t>{0, 1}, {2});
  const TensorData floats(std::vector<double>{3, 4}, {2}),
      huge(std::vector<std::int64_t>{1, std::int64_t{1} << 40}, {2});
  EXPECT_EQ(
      with("numbers", whole),
      "load_record: tensor \"numbers\" is f32[2] in Kinds but i64[2] in the record: it takes Float numbers of any "
      "precision, not Int");
  EXPECT_EQ(with("flags", bytes),
            "load_record: tensor \"flags\" is bool[2] in Kinds but u8[2] in the record: it takes Bool numbers of any "
            "precision, "
            "not Int");
  EXPECT_NE(with("counts", floats), "");
  EXPECT_NE(with("numbers", module.into_record().get("flags")), "");
  EXPECT_EQ(with("counts", huge),
            "load_record: tensor \"counts\" is i32[2] in Kinds but i64[2] in the record: not all of its numbers fit");
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    EXPECT_EQ(with("numbers", floats.convert_dtype(dtype)), "");
  }
  for (const auto dtype : {DType::i64, DType::i32, DType::i8, DType::u8}) {
    EXPECT_EQ(with("counts", whole.convert_dtype(dtype)), "");
  }
}

// The last piece is shorter, and pieces end within rows.
TEST(SourceOfATensor, ThatIsLargeIsWrittenInPieces) {
  const test::TempFolder folder;
  const auto is_in_pieces = [](const Record::Source& source) {
    return source.read.target<store::ReadInPieces>() != nullptr;
  };
  EXPECT_FALSE(is_in_pieces(nn::source_of("small", ones(cpu()).value())));
  const auto large = Tensor<2>::random({4097, 3001}, Distribution::uniform(0, 1), cpu());  // 47 MiB
  std::vector<Record::Source> sources;
  sources.push_back(nn::source_of("large", large.value()));
  EXPECT_TRUE(is_in_pieces(sources.front()));
  Record record;
  record.insert_sources(std::move(sources));
  record.save(folder / "large.safetensors");
  const auto loaded = Record::load(folder / "large.safetensors");
  EXPECT_TRUE(loaded.get("large").to_vec<float>() == large.into_data().to_vec<float>());
}

}  // namespace
}  // namespace burn
