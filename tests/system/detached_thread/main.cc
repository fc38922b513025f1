// Ends while threads that nothing waits for compute on a device. The arguments: how it ends ("return", "exit"), whether
// those threads go on after an error ("catches") or let it end the program ("throws"), and the device's URL.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "client/tensor/tensor.h"

namespace {

std::atomic<int> steps{0};

void compute(const char* url) {
  using burn::Tensor;
  const burn::Device device{url};
  while (true) {
    auto x = Tensor<2>::random({64, 64}, burn::Distribution::normal(0, 1), device);
    x = (x.matmul(x.exp()) + 1).sort(0);
    steps += x.mean().item<float>() < 1e30f ? 1 : 2;
  }
}

void compute_always(const char* url) {
  while (true) {
    try {
      compute(url);
    } catch (const burn::Error&) {  // the device is gone
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char *end = argv[1], *url = argv[3];
  for (int i = 0; i < 3; ++i)
    std::thread(std::strcmp(argv[2], "catches") == 0 ? compute_always : compute, url).detach();
  while (steps < 20) std::this_thread::yield();
  std::puts("computing");
  std::fflush(stdout);
  if (std::strcmp(end, "exit") == 0) std::exit(0);
  return 0;
}
