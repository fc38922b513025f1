// The smallest training for tests: a model of two layers that classifies points of a plane, with its loaders.
#pragma once

#include <array>
#include <vector>

#include "data/random.h"
#include "nn/nn.h"
#include "train/render/renderer_sink.h"
#include "train/train.h"

namespace burn::test {

struct Point {
  std::array<float, 2> x;
  std::int64_t label;
};

struct PointBatch {
  Tensor<2> x;             // [batch, 2]
  Tensor<1, Int> targets;  // [batch]
};

struct PointBatcher {
  Device device;

  PointBatch batch(const std::vector<Point>& points) const {
    std::vector<float> x;
    std::vector<std::int64_t> labels;
    for (const auto& point : points) {
      x.insert(x.end(), point.x.begin(), point.x.end());
      labels.push_back(point.label);
    }
    const auto count = static_cast<std::int64_t>(points.size());
    const auto raw = Tensor<2>::from_data(TensorData(std::move(x), {count, 2}), device);
    return {raw * 2 - 1, Tensor<1, Int>::from_data(TensorData(std::move(labels), {count}), device)};
  }
};

// Two classes, divided by a line, with a few points on the wrong side.
inline std::vector<Point> points(std::size_t count, std::uint64_t seed) {
  data::Rng rng{seed};
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const float a = rng.uniform(), b = rng.uniform();
    points.push_back({{a, b}, (a + b > 1) != (rng.below(20) == 0) ? 1 : 0});
  }
  return points;
}

struct TinyNet {
  nn::Linear hidden, output;
  nn::Dropout dropout;
  BURN_MODULE(TinyNet, hidden, output, dropout)

  static TinyNet init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 2, .d_output = 16}.init(device),
            .output = nn::LinearConfig{.d_input = 16, .d_output = 2}.init(device),
            .dropout = nn::DropoutConfig{.prob = 0.25}.init()};
  }

  train::ClassificationOutput step(const PointBatch& batch) const {
    auto logits = output(dropout(hidden(batch.x)).tanh());
    return {nn::CrossEntropyLoss{}(logits, batch.targets), logits, batch.targets};
  }
};

struct TinyLoaders {
  data::DataLoader<PointBatch> train, valid;
};

// 5 batches of 10 to train on, 2 to validate with.
inline TinyLoaders tiny_loaders(const Device& device, std::size_t workers = 0) {
  auto builder = data::DataLoaderBuilder(PointBatcher{device}).batch_size(10).num_workers(workers);
  auto valid = builder.build(data::InMemDataset<Point>(points(20, 2)));
  return {builder.shuffle(5).build(data::InMemDataset<Point>(points(50, 1))), valid};
}

// Records everything that it is asked to show.
struct RecordingRenderer : train::Renderer {
  std::vector<train::Progress> steps;
  std::vector<train::EpochSummary> epochs;
  std::vector<std::string> messages;
  std::vector<train::MetricSummary> table;

  void progress(const train::Progress& progress) override { steps.push_back(progress); }
  void epoch(const train::EpochSummary& summary) override { epochs.push_back(summary); }
  void message(const std::string& text) override { messages.push_back(text); }
  void summary(const std::vector<train::MetricSummary>& metrics) override { table = metrics; }
};

// An observer that passes every event to `renderer` at once, on the training thread: for tests that count steps or stop
// after one.
inline train::events::EventStream::Observer synchronous_observer(std::shared_ptr<train::Renderer> renderer) {
  return [sink = std::make_shared<train::RendererSink>(std::move(renderer))](const train::events::Event& event) {
    sink->event(event);
  };
}

}  // namespace burn::test
