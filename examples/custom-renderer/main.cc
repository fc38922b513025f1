// custom-renderer [DEVICE]: trains the guide's network and shows it by the renderer of dots.h.
#include <iostream>

#include "examples/custom-renderer/dots.h"

int main(int argc, char** argv) {
  try {
    custom_renderer::Options options;
    if (argc > 1) options.device = argv[1];
    (void)custom_renderer::train(options, std::cout);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "custom-renderer: " << error.what() << '\n';
    return 1;
  }
}
