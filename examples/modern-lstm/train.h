// Training and testing, with the options of the command line.
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
  std::shared_ptr<burn::train::Renderer> renderer = nullptr;  // null: prints to stdout
  std::string dashboard = "";  // address of a page that shows the training: "127.0.0.1:6006"; empty: none
};

struct Trained {
  Net net;              // of the best epoch
  double error = 0;     // root mean square error on the test sequences
  double smallest = 0;  // the lowest possible error, due to the noise of the last number
};

Trained train(const Options& options);

}  // namespace modern_lstm
