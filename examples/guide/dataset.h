// The images: MNIST from a folder, or digits that the program generates.
#pragma once

#include "burn/burn.h"
#include "examples/guide/commands.h"

namespace guide {

using Images = burn::data::AnyDataset<burn::data::MnistItem>;

inline Images training_images(const Options& options) {
  if (options.data.empty()) return burn::data::DigitsDataset(8000, 1);
  if (options.download) (void)burn::data::MnistDataset::download(options.data);  // into that folder, which it returns
  return burn::data::MnistDataset::train(options.data);
}

inline Images test_images(const Options& options) {
  if (options.data.empty()) return burn::data::DigitsDataset(2000, 2);
  if (options.download) (void)burn::data::MnistDataset::download(options.data);  // into that folder, which it returns
  return burn::data::MnistDataset::test(options.data);
}

}  // namespace guide
