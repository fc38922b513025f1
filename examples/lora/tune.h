// Fine-tunes a GPT-2 with LoRA: a model that was trained on one text learns another one with small adapter matrices;
// its own matrices stay frozen. Errors: thrown, as burn::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "examples/gpt2/train.h"

namespace lora {

using namespace burn::prelude;

struct Options {
  gpt2::Options base;  // the model's sizes; `start`: its weights; `data`: the new text; steps, batch, lr
  std::int64_t rank = 8;
  double alpha = 16;
  std::string group = "qkv|project";  // a pattern for the paths of the matrices to adapt
  std::filesystem::path adapters{};   // file to which the adapters are saved at the end; empty: not saved
};

struct Tuned {
  gpt2::Gpt2 net;         // with adapters
  gpt2::Gpt2 merged;      // adapters merged into the weights
  double share = 0;       // fraction of the parameters that is trained
  double difference = 0;  // the largest difference between both models' logits for a piece of the text
  std::vector<float> losses;
};

Tuned tune(const Options& options, const std::string& text, std::ostream& out);

}  // namespace lora
