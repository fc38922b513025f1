// Metrics against scikit-learn, scikit-image, NLTK and numpy, whose numbers tests/train/metric_reference.py has
// written.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "store/record.h"
#include "train/metric/metric_set.h"
#include "train/metric/metrics.h"

namespace burn::metric {
namespace {

constexpr double kTolerance = 1e-6;  // relative to max(1, |expected|)
constexpr const char* kFile = "tests/train/metric_reference.safetensors";

using Metrics = std::map<std::string, MetricFactory>;

template <typename M>
MetricFactory make(M metric) {
  return [metric] { return std::make_unique<M>(metric); };
}

template <typename Precisions, typename Recalls, typename Betas>
void add_class_scores(Metrics& metrics, const std::string& rule, Precisions precision, Recalls recall, Betas f_beta) {
  for (const auto reduction : {ClassReduction::micro, ClassReduction::macro}) {
    const std::string end = " " + rule + (reduction == ClassReduction::micro ? " micro" : " macro");
    metrics["precision" + end] = make(precision(reduction));
    metrics["recall" + end] = make(recall(reduction));
    metrics["f0.5" + end] = make(f_beta(0.5, reduction));
    metrics["f1" + end] = make(f_beta(1, reduction));
    metrics["f2" + end] = make(f_beta(2, reduction));
  }
}

void add_areas(Metrics& metrics, Task task) {
  for (const auto reduction : {ClassReduction::micro, ClassReduction::macro}) {
    const std::string end = reduction == ClassReduction::micro ? " micro" : " macro";
    metrics["auroc" + end] = make(Auroc{task, reduction});
    metrics["auc-pr" + end] = make(AucPr{task, reduction});
  }
}

Metrics metrics_of_classes() {
  Metrics metrics{
      {"accuracy", make(Accuracy{})}, {"perplexity", make(Perplexity{})}, {"confusion", make(ConfusionMatrix{})}};
  for (const std::int64_t k : {1, 2, 3, 4}) {
    add_class_scores(
        metrics, "top" + std::to_string(k), [k](auto r) { return Precision::multiclass(k, r); },
        [k](auto r) { return Recall::multiclass(k, r); },
        [k](double beta, auto r) { return FBetaScore::multiclass(beta, k, r); });
    metrics["top-" + std::to_string(k) + " accuracy"] = make(TopKAccuracy{k});
  }
  add_areas(metrics, Task::multiclass);
  return metrics;
}

Metrics metrics_of_labels() {
  Metrics metrics{{"hamming", make(HammingScore{})}};
  add_class_scores(
      metrics, "at 0.5", [](auto r) { return Precision::multilabel(0.5, r); },
      [](auto r) { return Recall::multilabel(0.5, r); },
      [](double beta, auto r) { return FBetaScore::multilabel(beta, 0.5, r); });
  add_areas(metrics, Task::multilabel);
  return metrics;
}

Metrics metrics_of_one_question() {
  Metrics metrics;
  add_class_scores(
      metrics, "at 0.5", [](auto) { return Precision::binary(); }, [](auto) { return Recall::binary(); },
      [](double beta, auto) { return FBetaScore::binary(beta); });
  add_areas(metrics, Task::binary);
  return metrics;
}

Metrics metrics_of_sequences() {
  constexpr std::int64_t kPad = -1;
  Metrics metrics{{"cer", make(CharErrorRate{}.with_pad_token(kPad))},
                  {"wer", make(WordErrorRate{}.with_pad_token(kPad))},
                  {"rouge-l", make(RougeLScore{}.with_pad_token(kPad))}};
  for (const std::int64_t n : {1, 2, 4}) {
    const auto name = "bleu-" + std::to_string(n);
    metrics[name] = make(BleuScore{n}.with_pad_token(kPad));
    metrics[name + " epsilon"] = make(BleuScore{n, AddEpsilon{}}.with_pad_token(kPad));
    metrics[name + " exponential"] = make(BleuScore{n, Exponential{}}.with_pad_token(kPad));
  }
  return metrics;
}

MsSsim::Config three_scales() {
  MsSsim::Config config;
  config.kernel_size = 5;
  config.betas = {0.2, 0.3, 0.5};
  return config;
}

// The metrics to compute for a set of inputs, by the first word of the set's name.
const std::map<std::string, Metrics>& all_metrics() {
  static const std::map<std::string, Metrics> all{
      {"multiclass", metrics_of_classes()},
      {"multilabel", metrics_of_labels()},
      {"binary", metrics_of_one_question()},
      {"sequences", metrics_of_sequences()},
      {"images", {{"psnr", make(Psnr{})}, {"ssim", make(Ssim{})}, {"ms-ssim", make(MsSsim{three_scales()})}}},
      {"large", {{"ssim", make(Ssim{})}, {"ms-ssim", make(MsSsim{})}}},
      {"masks", {{"dice", make(Dice{})}}}};
  return all;
}

// Converts bytes to f32 in [0, 1]; returns other data unchanged.
TensorData pixels(const TensorData& data) {
  if (data.dtype() != DType::u8) return data;
  std::vector<float> values;
  for (const auto byte : data.as_slice<std::uint8_t>()) values.push_back(static_cast<float>(byte) / 255.0f);
  return {std::move(values), data.shape()};
}

class Reference : public ::testing::TestWithParam<std::string> {
 protected:
  Device device{"cpu"};

  client::Value upload(const TensorData& data) { return client::from_data(data, device, data.dtype()); }

  // Computes the metric over all items, in batches of 16 and a shorter last one.
  std::unique_ptr<Metric> measure(const MetricFactory& factory, const TensorData& output, const TensorData& targets) {
    constexpr std::int64_t kBatch = 16;
    MetricSet metrics{{[factory] { return factory(); }}};
    const auto whole_output = upload(output), whole_targets = upload(targets);
    const auto items = output.shape()[0];
    for (std::int64_t begin = 0; begin < items || begin == 0; begin += kBatch) {
      const auto count = std::min(kBatch, items - begin);
      train::StepOutput step{.loss = Tensor<1>::ones({1}, device).value(),
                             .output = client::narrow(whole_output, 0, begin, count, {}),
                             .targets = client::narrow(whole_targets, 0, begin, count, {}),
                             .items = count};
      metrics.push(metrics.measure(step), count);
    }
    metrics.take(0);
    auto result = factory();  // loaded from the state, as after a resume
    result->load_state(metrics.metrics()[0]->state());
    return result;
  }
};

void expect_same(double value, double expected, const std::string& metric) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << metric << " is " << value;
  } else {
    EXPECT_NEAR(value, expected, kTolerance * std::max(1.0, std::abs(expected))) << metric;
  }
}

const Record& reference() {
  static const Record record = Record::load(kFile);
  return record;
}

std::vector<std::string> sets() {
  std::vector<std::string> sets;
  for (const auto& name : reference().names()) {
    if (name.starts_with("in/") && name.ends_with("/output")) sets.push_back(name.substr(3, name.size() - 10));
  }
  return sets;
}

TEST_P(Reference, AgreesWithinAMillionth) {
  const auto& set = GetParam();
  const auto& metrics = all_metrics().at(set.substr(0, set.find(' ')));
  const auto output = pixels(reference().get("in/" + set + "/output"));
  const auto targets = pixels(reference().get("in/" + set + "/targets"));
  const auto prefix = "expected/" + set + "/";
  int compared = 0;
  for (const auto& [name, expected] : reference()) {
    if (!name.starts_with(prefix)) continue;
    const auto key = name.substr(prefix.size());
    ASSERT_TRUE(metrics.contains(key)) << key;
    const auto metric = measure(metrics.at(key), output, targets);
    ++compared;
    const auto numbers = expected.to_vec<double>();
    if (key != "confusion") {
      expect_same(metric->value(), numbers[0], key);
      continue;
    }
    const auto& matrix = dynamic_cast<const ConfusionMatrix&>(*metric);
    ASSERT_EQ(matrix.classes(), expected.shape()[0]);
    for (std::int64_t i = 0; i < matrix.classes() * matrix.classes(); ++i)
      EXPECT_EQ(matrix.count(i / matrix.classes(), i % matrix.classes()), numbers[static_cast<std::size_t>(i)]);
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Inputs, Reference, ::testing::ValuesIn(sets()), [](const auto& set) {
  auto name = set.param;
  std::erase(name, ' ');
  return name;
});

using LargeReference = Reference;

TEST_F(LargeReference, OfLargeImagesWithTheDefaults) {
  const std::int64_t height = 176, width = 180;
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < height; ++i) {
    for (std::int64_t j = 0; j < width; ++j) {
      x.push_back(static_cast<float>((i * 7 + j * 13 + i * j / 9) % 17) / 16.0f);
      y.push_back(static_cast<float>((i * 7 + j * 13 + i * j / 8) % 17) / 16.0f);
    }
  }
  const TensorData output(std::move(x), {1, 1, height, width}), targets(std::move(y), {1, 1, height, width});
  for (const auto& [key, factory] : all_metrics().at("large")) {
    const auto expected = reference().get("expected/large images/" + key).to_vec<double>()[0];
    expect_same(measure(factory, output, targets)->value(), expected, key);
  }
}

}  // namespace
}  // namespace burn::metric
