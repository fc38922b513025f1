// custom-loop [DEVICE]: trains the guide's network by the loop of loop.h.
#include "examples/custom-loop/loop.h"

int main(int argc, char** argv) {
  try {
    custom_loop::Options options;
    if (argc > 1) options.device = argv[1];
    (void)custom_loop::train(options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "custom-loop: " << error.what() << '\n';
    return 1;
  }
}
