// A variational autoencoder (Kingma and Welling, arXiv:1312.6114) for generated digits.
#pragma once

#include <filesystem>
#include <vector>

#include "burn/burn.h"
#include "examples/guide/batcher.h"

namespace recipes::vae {

using namespace burn;

constexpr std::int64_t kPixels = 28 * 28;

struct Batch {
  Tensor<2> images;  // [batch, 784], from 0 to 1
};

struct Batcher {
  Device device;

  Batch batch(const std::vector<data::MnistItem>& items) const {
    std::vector<std::uint8_t> pixels;
    for (const auto& item : items) pixels.insert(pixels.end(), item.image.begin(), item.image.end());
    const auto count = static_cast<std::int64_t>(items.size());
    const auto bytes = Tensor<2, Int>::from_data(TensorData(std::move(pixels), {count, kPixels}), device);
    return {bytes.to_float() / 255};
  }
};

struct Vae {
  nn::Linear encoder, mean, log_variance, decoder, pixels;
  BURN_MODULE(Vae, encoder, mean, log_variance, decoder, pixels)

  static Vae init(const Device& device, std::int64_t hidden = 256, std::int64_t latent = 8) {
    const auto linear = [&](std::int64_t d_input, std::int64_t d_output) {
      return nn::LinearConfig{.d_input = d_input, .d_output = d_output}.init(device);
    };
    return {.encoder = linear(kPixels, hidden),
            .mean = linear(hidden, latent),
            .log_variance = linear(hidden, latent),
            .decoder = linear(latent, hidden),
            .pixels = linear(hidden, kPixels)};
  }

  // [batch, latent] -> [batch, 784], as logits.
  Tensor<2> decode(const Tensor<2>& z) const { return pixels(decoder(z).relu()); }

  train::RegressionOutput train_step(const Batch& batch) const { return run(batch, true); }
  train::RegressionOutput valid_step(const Batch& batch) const { return run(batch, false); }  // uses mean codes

 private:
  train::RegressionOutput run(const Batch& batch, bool is_random) const {
    const auto hidden = encoder(batch.images).relu();
    const auto mu = mean(hidden), log_var = log_variance(hidden);
    auto z = mu;
    if (is_random) z = mu + (log_var / 2).exp() * Tensor<2>::random(mu.dims(), Distribution::normal(0, 1), mu.device());
    const auto logits = decode(z);
    const auto count = static_cast<double>(batch.images.dim(0));
    const auto rebuilt = nn::BinaryCrossEntropyLoss{.logits = true}(logits, batch.images) * kPixels;  // per image
    const auto divergence = (mu * mu + log_var.exp() - log_var - 1).sum() * (0.5 / count);
    return {rebuilt + divergence, logits.sigmoid(), batch.images};
  }
};

// Trains the model; returns the upper bound on -log p of an image, in nats, after each epoch.
inline std::vector<double> train(const std::filesystem::path& folder, const Device& device, std::size_t images,
                                 std::int64_t epochs) {
  device.seed(1);
  auto builder = data::DataLoaderBuilder(Batcher{device}).batch_size(50).num_workers(2);
  const auto valid = builder.build(data::DigitsDataset(200, 2));
  const auto loader = builder.shuffle(1).build(data::DigitsDataset(images, 1));
  const auto result = train::SupervisedTraining(folder, loader, valid)
                          .clip_norm(5)
                          .epochs(epochs)
                          .seed(1)
                          .launch(train::Learner(Vae::init(device.autodiff()), optim::AdamConfig{}, 1e-3));
  // To generate images: result.model.valid().decode(z).sigmoid() for normally distributed z.
  std::vector<double> bounds;
  for (const auto& epoch : result.report.history) bounds.push_back(epoch.valid.at(0));
  return bounds;
}

}  // namespace recipes::vae
