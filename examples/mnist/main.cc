// Trains and tests the network of mnist.h.
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "examples/mnist/mnist.h"

int main(int argc, char** argv) {
  try {
    mnist::Options options;
    CLI::App app{"Trains a digit classifier with everything that the learner has, and tests it."};
    app.add_option("--device", options.device, "where to compute: cpu, ws://host:port, ...")->capture_default_str();
    app.add_option("--data", options.data, "a folder with MNIST's files; without it the program draws digits itself");
    app.add_option("--artifacts", options.artifacts, "the folder of checkpoints and logs")->capture_default_str();
    app.add_option("--epochs", options.epochs, "passes over the images, at most")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--workers", options.workers, "threads that prepare batches")
        ->check(CLI::Range(0, 256))
        ->capture_default_str();
    app.add_option("--dashboard", options.dashboard, "show the training in a browser; at 127.0.0.1:6006 unless said")
        ->expected(0, 1)
        ->default_str("127.0.0.1:6006");
    app.add_flag("--resume", options.resume, "go on from the last checkpoint");
    CLI11_PARSE(app, argc, argv);
    const auto tested = mnist::train(options);
    if (tested.best_epoch == 0) return 130;  // interrupted
    std::cout << fmt::format("best epoch {}: {:.1f} % of clean and {:.1f} % of noisy images\n", tested.best_epoch,
                             tested.clean, tested.noisy);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "mnist: " << error.what() << '\n';
    return 1;
  }
}
