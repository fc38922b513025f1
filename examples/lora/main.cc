// Fine-tunes a GPT-2 with LoRA on the bytes of a text, and generates text with it.
//
//   gpt2 --data first.txt --steps 2000 --save base.safetensors
//   lora --start base.safetensors --data second.txt --adapters second.safetensors
#include <iostream>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "examples/lora/tune.h"

namespace {

int run(int argc, char** argv) {
  lora::Options options;
  auto& base = options.base;
  CLI::App app{"Fine-tunes a GPT-2 with LoRA on the bytes of a text, and lets it write."};
  const CLI::Range from_1{1, 1'000'000};
  const auto size = [&](const char* name, std::int64_t& value, const char* what) {
    app.add_option(name, value, what)->check(from_1)->capture_default_str();
  };
  app.add_option("--data", base.data, "a text file, or a folder with an input.txt")->required();
  app.add_option("--start", base.start, "the weights to begin with, as gpt2 --save leaves them");
  app.add_option("--adapters", options.adapters, "where the adapters go at the end");
  app.add_option("--losses", base.losses, "where the loss of each step goes");
  app.add_option("--device", base.device, "where to compute: cpu, cuda:0, ws://host:port")->capture_default_str();
  size("--rank", options.rank, "of the adapters");
  app.add_option("--alpha", options.alpha, "adapters count alpha / rank times")->capture_default_str();
  app.add_option("--group", options.group, "a pattern of the matrices that are adapted")->capture_default_str();
  size("--layers", base.layers, "blocks");
  size("--heads", base.heads, "heads of each block's attention");
  size("--model", base.model, "numbers for each token");
  size("--context", base.context, "tokens that are looked at");
  size("--vocabulary", base.vocabulary, "rows of the table of tokens, 256 at least");
  size("--batch", base.batch, "pieces of text in a step");
  app.add_option("--steps", base.steps, "steps of training")->check(CLI::Range(0, 100'000'000))->capture_default_str();
  app.add_option("--lr", base.lr, "the highest learning rate")->check(CLI::Range(0.0, 1e3))->capture_default_str();
  app.add_option("--generate", base.generate, "tokens to write at the end")->capture_default_str();
  app.add_option("--prompt", base.prompt, "what the text begins with");
  app.add_option("--seed", base.seed, "of everything random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto tuned = lora::tune(options, gpt2::read_text(base.data), std::cout);
  if (base.generate > 0) gpt2::write(base, tuned.merged, std::cout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "lora: " << error.what() << '\n';
    return 1;
  }
}
