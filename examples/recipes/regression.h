// Regression with early stopping; the result is the model of the best epoch.
#pragma once

#include <filesystem>
#include <vector>

#include "burn/burn.h"
#include "data/random.h"

namespace recipes::regression {

using namespace burn;

struct House {
  float area, age;  // both from 0 to 1
  float price;
};

struct Batch {
  Tensor<2> features;  // [batch, 2]
  Tensor<2> prices;    // [batch, 1]
};

struct Batcher {
  Device device;

  Batch batch(const std::vector<House>& houses) const {
    std::vector<float> features, prices;
    for (const auto& house : houses) {
      features.insert(features.end(), {house.area, house.age});
      prices.push_back(house.price);
    }
    const auto count = static_cast<std::int64_t>(houses.size());
    return {Tensor<2>::from_data(TensorData(std::move(features), {count, 2}), device),
            Tensor<2>::from_data(TensorData(std::move(prices), {count, 1}), device)};
  }
};

struct Net {
  nn::Linear hidden, output;
  BURN_MODULE(Net, hidden, output)

  static Net init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 2, .d_output = 64}.init(device),
            .output = nn::LinearConfig{.d_input = 64, .d_output = 1}.init(device)};
  }
  train::RegressionOutput step(const Batch& batch) const {
    const auto prices = output(hidden(batch.features).relu());
    return {nn::HuberLossConfig{.delta = 0.5}.init()(prices, batch.prices), prices, batch.prices};
  }
};

inline std::vector<House> houses(std::size_t count, std::uint64_t seed) {
  data::Rng rng{seed};
  std::vector<House> made;
  for (std::size_t i = 0; i < count; ++i) {
    const float area = rng.uniform(), age = rng.uniform();
    made.push_back({area, age, area * (2 - age) + 0.05F * rng.uniform()});
  }
  return made;
}

// Trains and saves the best model; returns its loss on the validation set.
inline double train(const std::filesystem::path& folder, const Device& device) {
  device.seed(1);
  auto builder = data::DataLoaderBuilder(Batcher{device}).batch_size(50);
  const auto valid = builder.build(data::InMemDataset<House>(houses(200, 2)));
  const auto loader = builder.shuffle(1).build(data::InMemDataset<House>(houses(1000, 1)));
  const auto result = train::SupervisedTraining(folder, loader, valid)
                          .metrics(metric::Loss{})
                          .early_stopping({.metric = "Loss", .patience = 8, .warmup = 5})
                          .epochs(200)
                          .seed(1)
                          .launch(train::Learner(Net::init(device.autodiff()), optim::AdamConfig{},
                                                 lr::ReduceOnPlateau{.initial = 3e-3, .patience = 3}));
  const auto best = result.best();
  best.model.save_file(folder / "best.safetensors");
  return best.value;
}

}  // namespace recipes::regression
