// Trains a GPT-2 on the bytes of a text, and generates text with it.
//
//   gpt2 --data tinyshakespeare/input.txt --device ws://localhost:3000 --dtype bf16 --steps 2000
#include <iostream>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "examples/gpt2/train.h"

namespace {

int run(int argc, char** argv) {
  gpt2::Options options;
  CLI::App app{"Trains a GPT-2 on the bytes of a text, and lets it write."};
  const CLI::Range from_1{1, 1'000'000};
  const auto size = [&](const char* name, std::int64_t& value, const char* what) {
    app.add_option(name, value, what)->check(from_1)->capture_default_str();
  };
  app.add_option("--data", options.data, "a text file, or a folder with an input.txt")->required();
  app.add_option("--device", options.device,
                 "where to compute: cpu, cuda:0, ws://host:port, grpc://host:port, unix:/path")
      ->capture_default_str();
  size("--layers", options.layers, "blocks");
  size("--heads", options.heads, "heads of each block's attention");
  size("--model", options.model, "numbers for each token");
  size("--context", options.context, "tokens that are looked at");
  size("--vocabulary", options.vocabulary, "rows of the table of tokens, 256 at least");
  size("--batch", options.batch, "pieces of text in a step");
  app.add_option("--steps", options.steps, "steps of training")
      ->check(CLI::Range(0, 100'000'000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup, "steps in which the learning rate rises")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--lr", options.lr, "the highest learning rate")->check(CLI::Range(0.0, 1e3))->capture_default_str();
  app.add_option("--dtype", options.dtype, "what products compute in")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  app.add_option("--start", options.start, "weights to begin with, as --save leaves them");
  app.add_option("--save", options.save, "where the weights go at the end");
  app.add_option("--losses", options.losses, "where the loss of each step goes");
  app.add_option("--generate", options.generate, "tokens to write at the end")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "0: always the most likely token")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_option("--prompt", options.prompt, "what the text begins with");
  app.add_option("--seed", options.seed, "of everything random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto trained = gpt2::train(options, gpt2::read_text(options.data), std::cout);
  if (options.generate > 0) gpt2::write(options, trained.net, std::cout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "gpt2: " << error.what() << '\n';
    return 1;
  }
}
