// The guide: trains a digit classifier on any device, and classifies a digit with the trained model.
//
//   guide train --device ws://localhost:3000 --epochs 10
//   guide infer --index 7
#include <iostream>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "examples/guide/commands.h"

namespace {

constexpr int kFailed = 1;
constexpr int kInterrupted = 130;  // the exit code of a program ended by Ctrl-C in a shell
constexpr int kTryAgain = 75;      // EX_TEMPFAIL: run again with --resume, it continues on another worker

void add_common(CLI::App& command, guide::Options& options) {
  command.add_option("--device", options.device, "where to compute: cpu, ws://host:port, grpc://host:port, unix:/path")
      ->capture_default_str();
  command.add_option("--data", options.data, "a folder with MNIST's files; without it the program draws digits itself");
  command.add_flag("--download", options.download, "fetch the files that the folder lacks")->needs("--data");
  command.add_option("--artifacts", options.artifacts, "the folder of the trained model")->capture_default_str();
}

int run(int argc, char** argv) {
  guide::Options options;
  CLI::App app{"Trains a digit classifier and lets it read digits."};
  app.require_subcommand(1);
  const CLI::Range from_1{1, 1'000'000};

  auto& train = *app.add_subcommand("train", "train a model");
  add_common(train, options);
  train.add_option("--epochs", options.epochs, "passes over the training images")->check(from_1)->capture_default_str();
  train.add_option("--batch-size", options.batch_size, "images in a step")->check(from_1)->capture_default_str();
  train.add_option("--lr", options.lr, "the learning rate")->check(CLI::Range(0.0, 1e3))->capture_default_str();
  train.add_option("--workers", options.workers, "threads that prepare batches")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  train.add_option("--seed", options.seed, "of everything random")->capture_default_str();
  train.add_flag("--resume", options.resume, "go on from the last checkpoint");
  train.add_flag("--resume-if-any", options.resume_if_any,
                 "the same if there is a checkpoint, else from the beginning: for a program that is started again");
  train.add_option("--dashboard", options.dashboard, "show the training in a browser; at 127.0.0.1:6006 unless said")
      ->expected(0, 1)
      ->default_str("127.0.0.1:6006");

  auto& infer = *app.add_subcommand("infer", "read one image of the test set");
  add_common(infer, options);
  infer.add_option("--index", options.index, "which image")->required();

  CLI11_PARSE(app, argc, argv);
  if (infer.parsed()) {
    guide::infer(options);
    return 0;
  }
  switch (guide::train(options)) {
    case guide::Ended::completed:
      return 0;
    case guide::Ended::interrupted:
      return kInterrupted;
    case guide::Ended::drained:
      return kTryAgain;
  }
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "guide: " << error.what() << '\n';
    return kFailed;
  }
}
