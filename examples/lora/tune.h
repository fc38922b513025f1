// Fine-tuning a GPT-2 with LoRA: a model that was trained on one text learns another one, by small matrices beside its
// own, which stay as they are. Errors: thrown, as burn::Error.
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
  std::string group = "qkv|project";  // a pattern of the paths of the matrices that are adapted
  std::filesystem::path adapters{};   // where the adapters go at the end, if anywhere
};

struct Tuned {
  gpt2::Gpt2 net;         // with adapters
  gpt2::Gpt2 merged;      // without
  double share = 0;       // of the parameters that is trained
  double difference = 0;  // the largest, between the logits of both for a piece of the text
  std::vector<float> losses;
};

Tuned tune(const Options& options, const std::string& text, std::ostream& out);

}  // namespace lora
