#include <cstdio>
#include <cstdlib>

#include "tests/system/static_life/devices.h"

namespace burn::test {
namespace {

// Uses a device when almost everything else is gone.
struct LastWords {
  Device device{"cpu"};
  Tensor<1> x = Tensor<1>::ones({3}, device);

  ~LastWords() {
    const auto y = (x * 2).sum();  // recorded by a thread whose own variables are gone
    std::printf("last words %g\n", static_cast<double>(y.into_scalar<float>()));
  }
} last_words;

// A graph that is dropped, node after node, when the program ends.
Tensor<1> tracked = [] {
  auto x = Tensor<1>::ones({3}, Device{"cpu"}.autodiff()).require_grad();
  for (int i = 0; i < 1000; ++i) x = x * 1.5 + x;
  return x;
}();

}  // namespace

Net& net() {
  static Net instance{.hidden = nn::LinearConfig{.d_input = 2, .d_output = 8}.init(autodiff),
                      .output = nn::LinearConfig{.d_input = 8, .d_output = 2}.init(autodiff)};
  return instance;
}

}  // namespace burn::test
