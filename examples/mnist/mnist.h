// Trains the guide's network with a full recipe: randomly shifted images, a learning rate with warmup and decay,
// averaged weights, early stopping, and a test on clean and on noisy images.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "burn/burn.h"
#include "data/random.h"
#include "data/transforms.h"
#include "examples/guide/model.h"
#include "train/evaluator/evaluator.h"

namespace mnist {

using namespace burn;
using guide::MnistBatcher;
using Images = data::AnyDataset<data::MnistItem>;

// Shifts an image by up to two pixels in each direction. The shift is derived from its pixels, so that it is the same
// in each epoch and on any thread.
inline data::MnistItem moved(const data::MnistItem& item) {
  constexpr auto kSide = static_cast<int>(data::MnistItem::kSide);
  std::uint64_t seed = item.label;
  for (const auto pixel : item.image) seed = seed * 31 + pixel;
  data::Rng rng{seed};
  const int right = static_cast<int>(rng.below(5)) - 2, down = static_cast<int>(rng.below(5)) - 2;
  data::MnistItem result{.image = {}, .label = item.label};
  for (int row = std::max(0, down); row < std::min(kSide, kSide + down); ++row) {
    for (int column = std::max(0, right); column < std::min(kSide, kSide + right); ++column) {
      const int from = (row - down) * kSide + column - right;
      const int to = row * kSide + column;
      result.image[static_cast<std::size_t>(to)] = item.image[static_cast<std::size_t>(from)];
    }
  }
  return result;
}

// Sets a twentieth of the pixels to white.
inline data::MnistItem noisy(data::MnistItem item) {
  std::uint64_t seed = item.label;
  for (const auto pixel : item.image) seed = seed * 31 + pixel;
  data::Rng rng{seed};
  for (auto& pixel : item.image) {
    if (rng.below(20) == 0) pixel = 255;
  }
  return item;
}

struct Options {
  std::string device = "cpu";
  std::filesystem::path data;  // folder of MNIST's files; empty: generated digits
  std::filesystem::path artifacts = "runs/mnist";
  std::size_t train_images = 8000, test_images = 2000;  // for generated digits
  std::int64_t epochs = 20;
  std::size_t batch_size = 64, workers = 2;
  bool resume = false;
  std::string dashboard;  // address of a page that shows the training: "127.0.0.1:6006"; empty: none
};

struct Tested {
  double clean = 0, noisy = 0;  // percent classified correctly
  std::int64_t best_epoch = 0;
};

inline Tested train(const Options& options) {
  const Device device{options.device};
  device.seed(1);
  const Images train = options.data.empty() ? Images(data::DigitsDataset(options.train_images, 1))
                                            : Images(data::MnistDataset::train(options.data));
  const Images test = options.data.empty() ? Images(data::DigitsDataset(options.test_images, 2))
                                           : Images(data::MnistDataset::test(options.data));
  const auto all = train.len(), kept = all * 9 / 10;  // the rest is for validation
  auto builder =
      data::DataLoaderBuilder(MnistBatcher{device}).batch_size(options.batch_size).num_workers(options.workers);
  const auto valid = builder.build(data::PartialDataset<data::MnistItem>(train, kept, all));
  const auto clean = builder.build(test);
  const auto noise = builder.build(data::MapperDataset<data::MnistItem, data::MnistItem>(test, noisy));
  const auto loader = builder.shuffle(1).build(data::MapperDataset<data::MnistItem, data::MnistItem>(
      data::PartialDataset<data::MnistItem>(train, 0, kept), moved));

  const auto steps = options.epochs * static_cast<std::int64_t>(loader.size()),
             warm = std::min<std::int64_t>(steps / 10, 500) + 1;
  const lr::Sequential schedule{
      {lr::Linear{.initial = 1e-5, .final_lr = 2e-3, .steps = warm},
       lr::Cosine{.initial = 2e-3, .min_lr = 1e-5, .steps = std::max<std::int64_t>(steps - warm, 1)}},
      {warm}};
  auto training = train::SupervisedTraining(options.artifacts, loader, valid)
                      .metrics(metric::Loss{}, metric::Accuracy{})
                      .checkpoints(train::KeepLast{1}, train::KeepBest{.metric = "Accuracy"},
                                   train::EveryTime{std::chrono::minutes{5}})
                      .early_stopping({.metric = "Accuracy", .patience = 4, .warmup = 3})
                      .ema({.decay = 0.995, .warmup = 10})
                      .clip_norm(1)
                      .interrupter(train::Interrupter::on_ctrl_c())
                      .epochs(options.epochs)
                      .seed(1)
                      .summary()
                      .profile();
  if (!options.dashboard.empty()) training.dashboard(options.dashboard);
  if (options.resume) training.resume(train::latest);
  const auto result = training.launch(
      train::Learner(guide::NetConfig{}.init(device.autodiff()), optim::AdamWConfig{.weight_decay = 1e-2}, schedule));
  if (result.interrupted()) return {};

  const auto best = result.best();
  train::Evaluator evaluator(options.artifacts);
  evaluator.metrics(metric::Accuracy{}, metric::ConfusionMatrix{});
  return {evaluator.eval("clean", best.model, clean).value("Accuracy"),
          evaluator.eval("noisy", best.model, noise).value("Accuracy"), best.epoch};
}

}  // namespace mnist
