// What the program can do. Errors: thrown, as burn::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/mnist.h"

namespace guide {

struct Options {
  std::string device = "cpu";
  std::filesystem::path data;  // empty: drawn digits, which need no files
  bool download = false;       // what `data` lacks
  std::filesystem::path artifacts = "guide-artifacts";

  // train
  std::int64_t epochs = 10;
  std::size_t batch_size = 64;
  std::size_t workers = 2;
  double lr = 1e-3;
  std::uint64_t seed = 42;
  bool resume = false, resume_if_any = false;
  std::string dashboard;  // where a page shows the training: "127.0.0.1:6006"; empty: nowhere

  // infer
  std::size_t index = 0;
};

enum class Ended { completed, interrupted, drained };  // drained: the worker ends, and the training can be resumed

// Trains a model, validating on the test set, and leaves it in the folder of artifacts.
Ended train(const Options& options);
// Shows an image of the test set and what the trained model takes it for.
void infer(const Options& options);

// The image as text, two pixels a character: 14 lines of 28.
std::string picture(const burn::data::MnistItem& item);

}  // namespace guide
