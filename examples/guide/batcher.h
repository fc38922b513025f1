// Converts images to tensors. Called by the loader's workers; pixels are uploaded as bytes and converted to floats on
// the device.
#pragma once

#include <vector>

#include "burn/burn.h"

namespace guide {

using namespace burn::prelude;

struct MnistBatch {
  Tensor<3> images;        // [batch, 28, 28], normalized to mean 0 and standard deviation 1 over MNIST
  Tensor<1, Int> targets;  // [batch]
};

struct MnistBatcher {
  Device device;

  MnistBatch batch(const std::vector<data::MnistItem>& items) const {
    constexpr auto kSide = static_cast<std::int64_t>(data::MnistItem::kSide);
    const auto count = static_cast<std::int64_t>(items.size());
    std::vector<std::uint8_t> pixels, labels;
    pixels.reserve(items.size() * data::MnistItem::kSide * data::MnistItem::kSide);
    for (const auto& item : items) {
      pixels.insert(pixels.end(), item.image.begin(), item.image.end());
      labels.push_back(item.label);
    }
    const auto images = Tensor<3, Int>::from_data(TensorData(std::move(pixels), {count, kSide, kSide}), device);
    const auto targets = Tensor<1, Int>::from_data(TensorData(std::move(labels), {count}), device);
    return {(images.to_float() / 255 - 0.1307) / 0.3081, targets.to_int()};
  }
};

}  // namespace guide
