// Operations on whole modules: files, devices, mappers, text, groups; adapters (LoRA); parameters in records.
#include <filesystem>

#include "tests/nn/nn_test.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using test::values;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Net {
  nn::Linear first, second;
  nn::BatchNorm norm;
  BURN_MODULE(Net, first, second, norm)

  static Net init(const Device& device) {
    return {.first = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(device),
            .second = nn::LinearConfig{.d_input = 3, .d_output = 4, .bias = false}.init(device),
            .norm = nn::BatchNormConfig{.num_features = 4}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return second(first(x).tanh()); }
};

TEST(ModuleFiles, KeepAllNumbers) {
  const test::TempFolder folder;
  const auto path = folder.path() / "net.safetensors";
  const auto net = Net::init(cpu());
  net.save_file(path);
  const auto loaded = Net::init(cpu()).load_file(path);
  EXPECT_EQ(values(loaded.first.weight.val()), values(net.first.weight.val()));
  EXPECT_EQ(values(loaded.norm.running_var.val()), values(net.norm.running_var.val()));
  EXPECT_TRUE(Net::init(cpu()).try_load_file(path).ok());
}

TEST(ModuleFiles, ThatDoNotFitAreAStatusOfTheTryingForms) {
  const test::TempFolder folder;
  const auto missing = Net::init(cpu()).try_load_file(folder.path() / "none");
  EXPECT_EQ(missing.status().code(), StatusCode::not_found);
  auto record = Net::init(cpu()).into_record();
  record.remove("first.bias");
  const auto partial = Net::init(cpu()).try_load_record(record);
  EXPECT_FALSE(partial.ok());
  EXPECT_THAT(partial.status().message(), HasSubstr("first.bias"));
}

TEST(ModuleDevices, AreNamedOnceWithATapeWhereThereIsOne) {
  const auto net = Net::init(ad());
  ASSERT_EQ(net.devices().size(), 1u);
  EXPECT_EQ(net.devices()[0], ad());
  const Device other = Device::new_session("cpu");
  auto split = net;
  split.second = split.second.to_device(other);
  EXPECT_THAT(split.devices(), ElementsAre(ad(), other));
  EXPECT_THAT(split.collect_devices({other}), ElementsAre(other, ad()));
}

TEST(ModuleVisitors, SeeEveryTensorOnceByKindBetweenItsModules) {
  struct Seen : nn::TensorVisitor {
    std::string all;
    void enter_module(const std::string& path, std::string_view type) override {
      all += "<" + path + ":" + std::string{type};
    }
    void leave_module(const std::string&) override { all += ">"; }
    void visit_float(const std::string& path, const Slot& slot) override {
      all += " " + path;
      total += nn::with_rank(slot.value, [](const auto& x) { return x.sum().item(); });
    }
    double total = 0;
  } seen;
  auto net = Net::init(ad());
  net.second.weight = net.first.weight;
  nn::visit(net, seen);
  EXPECT_THAT(seen.all,
              HasSubstr("<:Net<first:Linear first.weight first.bias><second:Linear><norm:BatchNorm norm.gamma"));
  EXPECT_THAT(seen.all, HasSubstr(" norm.running_mean"));
}

TEST(ModuleMappers, MakeAnotherModuleOfTheSameParameters) {
  struct Halve : nn::ModuleMapper {
    client::Value map_float(const std::string& path, const Slot& slot) override {
      if (path.starts_with("norm")) return slot.value;
      return nn::with_rank(slot.value, [](const auto& x) { return (x / 2).value(); });
    }
  } halve;
  auto net = Net::init(ad());
  net.second.weight = net.first.weight;
  net.first.bias = net.first.bias->set_require_grad(false);
  const auto mapped = nn::map(net, halve);
  for (const auto* linear : {&mapped.first, &mapped.second}) {
    EXPECT_EQ(values(linear->weight.val()), values(net.first.weight.val() / 2));
    EXPECT_TRUE(linear->weight.val().is_require_grad());
    EXPECT_EQ(linear->weight.id(), net.first.weight.id());
  }
  EXPECT_FALSE(mapped.first.bias->val().is_require_grad());
  struct Flat : nn::ModuleMapper {
    client::Value map_float(const std::string&, const Slot& slot) override {
      return client::reshape(slot.value.inner(), {-1}, {});
    }
  } flat;
  EXPECT_EQ(error_of([&] { (void)nn::map(net, flat); }),
            "map: \"first.weight\" is f32[4, 3], it cannot become f32[12]");
}

TEST(ModuleText, FollowsItsSettings) {
  const auto net = Net::init(cpu());
  const auto text = nn::to_text(net, {.indentation = 4, .num_parameters = false, .depth = 2});
  EXPECT_EQ(text, "Net\n    first: Linear\n    second: Linear\n    norm: BatchNorm\n");
  const auto with_ids = nn::to_text(net, {.param_ids = true});
  EXPECT_THAT(with_ids, HasSubstr("weight: f32[4, 3], id " + std::to_string(net.first.weight.id())));
  EXPECT_THAT(nn::to_text(net, {.tensors = false}), HasSubstr("first: Linear (15 parameters)\n  second"));
}

TEST(ParamGroups, OfSeveralConditionsAskForAllOfThem) {
  const auto both = ParamGroup::from_regexes({"^first", "weight$"});
  EXPECT_TRUE(both.matches(1, "first.weight"));
  EXPECT_FALSE(both.matches(1, "first.bias"));
  EXPECT_FALSE(both.matches(1, "second.weight"));
  const auto short_weights = ParamGroup::from_predicates({[](std::string_view path) { return path.size() < 9; },
                                                          [](std::string_view path) { return path.ends_with("t"); }});
  EXPECT_TRUE(short_weights.matches(1, "a.weight"));
  EXPECT_FALSE(short_weights.matches(1, "aaaa.weight"));
}

TEST(LinearOfColumns, ComputesTheSameAndSharesItsRecords) {
  const auto row = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(cpu());
  auto column = nn::LinearConfig{.d_input = 4, .d_output = 3, .layout = nn::LinearLayout::col}.init(cpu());
  EXPECT_EQ(column.weight.val().dims(), (std::array<std::int64_t, 2>{3, 4}));
  column = column.load_record(row.into_record());
  const auto x = test::spread_tensor<2>({2, 4}, cpu());
  expect_near(column(x), values(row(x)));
  EXPECT_EQ(values(column.weight.val()), values(row.weight.val().t()));
  EXPECT_EQ(column.into_record().get("weight").to_vec<float>(), row.into_record().get("weight").to_vec<float>());
  EXPECT_THAT(error_of([&] {
                (void)column.load_record(nn::LinearConfig{.d_input = 3, .d_output = 4}.init(cpu()).into_record());
              }),
              HasSubstr("\"weight\" is f32[4, 3] in Linear but f32[3, 4] in the record"));
  EXPECT_EQ(nn::LinearConfig::from_json(nn::LinearConfig{.layout = nn::LinearLayout::col}.to_json()).layout,
            nn::LinearLayout::col);
}

TEST(EmbeddingWithPadding, HasARowOfZerosThatIsNotTrained) {
  for (const bool sparse : {false, true}) {
    const auto table =
        nn::EmbeddingConfig{.n_embedding = 4, .d_model = 2, .sparse = sparse, .padding_index = -3}.init(ad());
    EXPECT_EQ(values(table.weight.val().slice({s(1, 2)})), (std::vector<double>{0, 0}));
    const auto indices = Tensor<2, Int>::from_data({{1, 2}, {1, 2}}, ad());
    const auto gradients = table(indices).sum().backward();
    expect_near(*table.weight.val().grad(gradients), {0, 0, 0, 0, 2, 2, 0, 0});
  }
  EXPECT_EQ(error_of([] { (void)nn::EmbeddingConfig{.n_embedding = 4, .d_model = 2, .padding_index = 4}.init(cpu()); }),
            "EmbeddingConfig: padding_index is 4, outside the 4 rows of the table");
}

TEST(Lora, ComputesTheSameAtFirstAndTrainsItsAdaptersAlone) {
  auto net = Net::init(ad());
  net.second.weight = nn::fresh(net.second.weight);
  const auto x = test::spread_tensor<2>({5, 4}, ad());
  auto tuned = nn::apply_lora(net, {.rank = 2, .alpha = 4});
  expect_near(tuned.forward(x), values(net.forward(x)), 1e-6);
  std::vector<std::string> trained;
  tuned.for_each_slot([&](const std::string& path, Slot& slot) {
    if (slot.is_trainable()) trained.push_back(path);
  });
  EXPECT_THAT(trained, ElementsAre("first.weight.lora_a", "first.weight.lora_b", "second.weight.lora_a",
                                   "second.weight.lora_b"));
  EXPECT_EQ(tuned.num_params(), net.num_params() + 2 * (4 * 2 + 2 * 3));
  // With other numbers than the initial zeros, the merged module, which has no adapters, computes the same.
  tuned.for_each_slot([&](const std::string& path, Slot& slot) {
    if (path.ends_with("lora_b")) slot.put(client::require_grad(slot.value.inner()).inner(), true);
    if (path.ends_with("lora_b"))
      slot.put(test::spread_tensor<2>({slot.value.dim(0), slot.value.dim(1)}, ad(), 3).value().inner(), true);
  });
  const auto merged = nn::merge(tuned);
  expect_near(merged.forward(x), values(tuned.forward(x)), 1e-5);
  expect_near(merged.first.weight.val(), values(tuned.first.weight.val()), 1e-6);
  EXPECT_EQ(merged.num_params(), net.num_params());
  EXPECT_GT((merged.forward(x) - net.forward(x)).abs().max().item(), 1e-3);
}

TEST(Lora, HasTheRightGradientsInBothLayouts) {
  for (const auto layout : {nn::LinearLayout::row, nn::LinearLayout::col}) {
    const auto layer = nn::LinearConfig{.d_input = 4, .d_output = 3, .layout = layout}.init(cpu());
    auto tuned = nn::apply_lora(layer, {.rank = 2, .alpha = 3, .init_std = 0.5}).require_grad();
    tuned.for_each_slot([&](const std::string& path, Slot& slot) {
      if (path.ends_with("lora_b"))
        slot.value = test::spread_tensor<2>({slot.value.dim(0), slot.value.dim(1)}, cpu()).value();
    });
    test::expect_gradients(tuned, test::spread_tensor<2>({2, 4}, cpu()),
                           [](const auto& m, const auto& x) { return m(x); });
    const auto x = test::spread_tensor<2>({2, 4}, cpu());
    expect_near(tuned(x), values(nn::merge(tuned)(x)));
  }
}

TEST(Lora, OfATiedParameterIsOneAndItsAdaptersAreARecordOfTheirOwn) {
  auto net = Net::init(ad());
  net.second = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(ad());
  net.second.weight = net.first.weight;
  auto tuned = nn::apply_lora(net, {.rank = 1});
  EXPECT_EQ(tuned.num_params(), net.num_params() + 4 + 3);
  const auto adapters = nn::into_record_group(tuned, nn::lora_adapters());
  EXPECT_THAT(adapters.names(), ElementsAre("first.weight.lora_a", "first.weight.lora_b"));
  const auto other = nn::load_record_group(nn::apply_lora(net, {.rank = 1}), adapters, nn::lora_adapters());
  EXPECT_EQ(values(other.second.weight.val()), values(tuned.second.weight.val()));
  const auto all = tuned.load_record(tuned.into_record());
  EXPECT_EQ(values(all.first.weight.val()), values(tuned.first.weight.val()));
}

// The base's tensor times a trained scale.
class Scaled : public nn::Reparameterization {
 public:
  std::string_view name() const override { return "scaled"; }
  std::span<const std::string_view> adapter_names() const override { return kNames; }
  client::Value value(const client::Value& base, std::span<const Slot> adapters,
                      const client::Site& site) const override {
    return client::pointwise(ir::PointwiseFn::mul, base, adapters[0].value, site);
  }

 private:
  static constexpr std::string_view kNames[] = {"scale"};
};

TEST(Reparameterization, MayBeAKindOfTheUser) {
  const auto net = Net::init(ad());
  const auto how = std::make_shared<const Scaled>();
  auto scaled = nn::apply_reparameterization(net, [&](const auto& paths, const Slot& base) {
    if (paths.front() != "first.weight") return std::optional<Adapter>{};
    const auto two = Tensor<2>::full({1, 1}, 2, cpu()).value();
    return std::optional(Adapter{how, {nn::adapter_slot(two, base)}});
  });
  expect_near(scaled.first.weight.val(), values(net.first.weight.val() * 2), 1e-6);
  std::vector<std::string> trained;
  scaled.for_each_slot([&](const std::string& path, Slot& slot) {
    if (slot.is_trainable()) trained.push_back(path);
  });
  EXPECT_THAT(trained, ElementsAre("first.weight.scale"));
  expect_near(nn::merge(scaled).first.weight.val(), values(net.first.weight.val() * 2), 1e-6);
}

TEST(Lora, RefusesRanksGroupsAndModulesThatDoNotFit) {
  const auto net = Net::init(cpu());
  EXPECT_EQ(error_of([&] { (void)nn::apply_lora(net, {.rank = 4}); }),
            "apply_lora: rank 4 is above a side of \"first.weight\", f32[4, 3]");
  EXPECT_EQ(error_of([&] { (void)nn::apply_lora(net, {.rank = 0}); }), "apply_lora: rank is 0, must be at least 1");
  EXPECT_EQ(error_of([&] { (void)nn::apply_lora(net, {.rank = 1, .group = ParamGroup::from_path("norm")}); }),
            "apply_lora: the group has no matrix of the module");
  EXPECT_THAT(error_of([&] { (void)nn::apply_lora(nn::apply_lora(net, {.rank = 1}), {.rank = 1}); }),
              HasSubstr("has an adapter already"));
}

}  // namespace
}  // namespace burn
