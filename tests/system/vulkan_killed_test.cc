// Clients of a worker on a Vulkan device that are killed while it computes for them: what they had comes back, and the
// worker lives. On any driver, lavapipe included; skipped where there is none.
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/process.h"

namespace burn::test {
namespace {

using server::Process;
using ::testing::StartsWith;

// A client holds 16 MiB: without what killed ones had, a fifth would find no memory.
TEST(VulkanWorker, LivesOnWhenClientsAreKilledWithRunsInFlight) {
  ::setenv("BURN_PLUGINS", BURN_PLUGIN_BUILD_FOLDER, 1);                   // NOLINT(concurrency-mt-unsafe)
  ::setenv("BURN_DEVICE_MEMORY", fmt::format("{}", 72 << 20).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  Process worker({BURN_SERVER, "--device", "vulkan:0", "--ws", "127.0.0.1:0", "--grpc", "off", "--session-lease", "0"});
  const auto said = worker.read_line();
  if (said.empty()) GTEST_SKIP() << worker.read_errors();
  ASSERT_THAT(said, StartsWith("listening "));
  const auto url = said.substr(std::string("listening ").size());
  for (int k = 0; k < 8; ++k) {
    Process client({BUSY_CLIENT, url, "65536"});
    ASSERT_EQ(client.read_line(), "ready") << k;
    client.send(SIGKILL);
    EXPECT_EQ(client.wait(), -SIGKILL);
  }
  worker.send(SIGTERM);
  EXPECT_EQ(worker.wait(), 0);
}

}  // namespace
}  // namespace burn::test
