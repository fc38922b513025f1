// Trains the generator and the critic of wgan.h.
#include <iostream>

#include <CLI/CLI.hpp>

#include "examples/wgan/wgan.h"

int main(int argc, char** argv) {
  try {
    wgan::Options options;
    CLI::App app{"Trains a Wasserstein GAN to draw points of a ring of eight clusters."};
    app.add_option("--device", options.device, "where to compute: cpu, ws://host:port, ...")->capture_default_str();
    app.add_option("--artifacts", options.artifacts, "the folder of checkpoints and logs")->capture_default_str();
    app.add_option("--epochs", options.epochs, "passes over the points")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--dashboard", options.dashboard, "show the training in a browser; at 127.0.0.1:6006 unless said")
        ->expected(0, 1)
        ->default_str("127.0.0.1:6006");
    CLI11_PARSE(app, argc, argv);
    const auto trained = wgan::train(options);
    if (!trained.distances.empty()) {
      std::cout << "mean distance to the nearest cluster: " << trained.distances.back()
                << "; of 1000 points the fewest near a cluster: " << trained.least << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "wgan: " << error.what() << '\n';
    return 1;
  }
}
