// Predicts the next number of noisy sequences with layers of LSTM cells built by hand.
//
//   modern-lstm --device cpu --epochs 20
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "examples/modern-lstm/train.h"

namespace {

int run(int argc, char** argv) {
  modern_lstm::Options options;
  CLI::App app{"Foretells the next number of noisy sequences with layers of LSTM cells."};
  const CLI::Range from_1{1, 1'000'000};
  app.add_option("--device", options.device,
                 "where to compute: cpu, cuda:0, ws://host:port, grpc://host:port, unix:/path")
      ->capture_default_str();
  app.add_option("--artifacts", options.artifacts, "the folder of the trained model")->capture_default_str();
  app.add_option("--sequences", options.sequences, "to train on")
      ->check(CLI::Range(8, 10'000'000))
      ->capture_default_str();
  app.add_option("--length", options.length, "numbers of a sequence")->check(CLI::Range(2, 60))->capture_default_str();
  app.add_option("--noise", options.noise, "deviation of what is added to each sum")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "passes over the sequences")->check(from_1)->capture_default_str();
  app.add_option("--batch-size", options.batch_size, "sequences in a step")->check(from_1)->capture_default_str();
  app.add_option("--hidden", options.net.hidden, "numbers of a state")->check(from_1)->capture_default_str();
  app.add_option("--layers", options.net.layers, "layers, each in both directions")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--lr", options.lr, "the highest learning rate")->check(CLI::Range(0.0, 10.0))->capture_default_str();
  app.add_option("--dashboard", options.dashboard, "show the training in a browser; at 127.0.0.1:6006 unless said")
      ->expected(0, 1)
      ->default_str("127.0.0.1:6006");
  app.add_option("--seed", options.seed, "of everything random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto trained = modern_lstm::train(options);
  std::cout << fmt::format("root mean square error on the test: {:.5f}; the noise of the number itself: {:.5f}\n",
                           trained.error, trained.smallest);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "modern-lstm: " << error.what() << '\n';
    return 1;
  }
}
