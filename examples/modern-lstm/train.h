// Training and testing, as the command line asks for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "examples/modern-lstm/model.h"

namespace modern_lstm {

struct Options {
  std::string device = "cpu";
  std::filesystem::path artifacts = "modern-lstm-artifacts";
  std::size_t sequences = 4000, length = 10;
  double noise = 0.1;
  std::int64_t epochs = 20;
  std::size_t batch_size = 32;
  double lr = 2e-3;
  std::uint64_t seed = 5;
  NetConfig net = {};
  std::shared_ptr<burn::train::Renderer> renderer = nullptr;  // null: on stdout
  std::string dashboard = "";  // where a page shows the training: "127.0.0.1:6006"; empty: nowhere
};

struct Trained {
  Net net;              // of the best epoch
  double error = 0;     // root mean square, on sequences of the test
  double smallest = 0;  // that the noise of the last number leaves
};

Trained train(const Options& options);

}  // namespace modern_lstm
