// Trains a little with what is at namespace scope, and ends in the way that the first argument says.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tests/system/static_life/devices.h"

using namespace burn::prelude;
namespace test = burn::test;

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "return";
  using test::net;
  static auto optim = optim::AdamConfig{}.init<test::Net>();
  for (int step = 0; step < 3; ++step) {
    const auto loss = (net().forward(test::weights) - 1).square().mean();
    net() = optim.step(1e-2, std::move(net()), optim::GradientsParams::from_grads(loss.backward(), net()));
  }
  std::cout << "sum " << (test::weights + 1).sum().into_scalar<float>() << std::endl;
  static auto& forgotten = *new Tensor<2>(Tensor<2>::ones({512, 512}, Device::new_session(test::url)));
  for (int i = 0; i < 10; ++i) forgotten = forgotten.matmul(forgotten) * (1.0 / 512);
  if (std::strcmp(end, "busy") == 0) forgotten.device().flush();  // it computes while the program ends
  if (std::strcmp(end, "reading") == 0)
    static auto answer = forgotten.to_data_async();  // and its answer is never taken
  if (std::strcmp(end, "exit") == 0) std::exit(0);
  if (std::strcmp(end, "quick_exit") == 0) std::quick_exit(0);
  return 0;
}
