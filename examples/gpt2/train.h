// The functions of the program. Errors: thrown, as burn::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "examples/gpt2/model.h"

namespace gpt2 {

struct Options {
  std::string device = "cpu";
  std::filesystem::path data;  // a text file, or a folder with an input.txt
  std::int64_t layers = 4, heads = 4, model = 128, context = 128, vocabulary = 256;

  std::int64_t batch = 8, steps = 200;
  std::int64_t warmup = 20;   // steps over which the learning rate rises
  double lr = 1e-3;           // the peak; falls to a tenth of it at the end
  std::string dtype = "f32";  // dtype of products: f32, bf16
  // If not empty: files for the initial weights, the final weights (safetensors), and the loss of each step, one per
  // line.
  std::filesystem::path start, save, losses;

  std::int64_t generate = 200;  // tokens
  double temperature = 0.8;
  std::string prompt = "\n";
  std::uint64_t seed = 42;
};

// Reads a text; each byte is a token.
std::string read_text(const std::filesystem::path& path);

// The learning rate of a step, counted from 0: rises linearly, then falls along half a cosine.
double learning_rate(const Options& options, std::int64_t step);

struct Trained {
  Gpt2 net;
  std::vector<float> losses;  // of every step
};

// Trains a model on pieces of the text, whose positions are drawn with the seed; reports progress to `out`.
Trained train(const Options& options, const std::string& text, std::ostream& out);

// Continues the prompt by options.generate tokens, which are written to `out` as they arrive.
void write(const Options& options, const Gpt2& net, std::ostream& out);

}  // namespace gpt2
