// The commands of the program. Errors: thrown, as burn::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/mnist.h"

namespace guide {

struct Options {
  std::string device = "cpu";
  std::filesystem::path data;  // folder of MNIST's files; empty: generated digits, which need no files
  bool download = false;       // download files that `data` lacks
  std::filesystem::path artifacts = "guide-artifacts";

  // train
  std::int64_t epochs = 10;
  std::size_t batch_size = 64;
  std::size_t workers = 2;
  double lr = 1e-3;
  std::uint64_t seed = 42;
  bool resume = false, resume_if_any = false;
  std::string dashboard;  // address of a page that shows the training: "127.0.0.1:6006"; empty: none

  // infer
  std::size_t index = 0;
};

enum class Ended { completed, interrupted, drained };  // drained: the worker shuts down; the training can be resumed

// Trains a model, validating on the test set, and saves it in the artifacts folder.
Ended train(const Options& options);
// Shows an image of the test set and the trained model's prediction for it.
void infer(const Options& options);

// The image as text, two pixels per character: 14 lines of 28.
std::string picture(const burn::data::MnistItem& item);

}  // namespace guide
