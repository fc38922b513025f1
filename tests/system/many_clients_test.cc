// Ten clients at once train side by side, each as if alone, and leave nothing behind.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/system/digits_training.h"

namespace burn {
namespace {

TEST(ManyClients, TrainSideBySideAndLeaveNoMemoryBehind) {
  server::Server worker(test::on_every_transport());
  const auto before = worker.memory_in_use();
  const auto alone = test::losses_on(Device::new_session("cpu"), 5);
  std::vector<std::vector<float>> losses(10);
  {
    std::vector<std::thread> clients;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      clients.emplace_back([&, i] { losses[i] = test::losses_on(Device::new_session(worker.urls()[i % 3]), 5); });
    }
    for (auto& client : clients) client.join();
  }
  for (const auto& theirs : losses) EXPECT_EQ(theirs, alone);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (worker.memory_in_use() != before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  EXPECT_EQ(worker.memory_in_use(), before);
}

}  // namespace
}  // namespace burn
