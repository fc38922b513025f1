// Linking this file makes the backends that are loaded at run time known to the tests that walk all kinds of devices,
// where such a device is there: CUDA's on a machine with a GPU; Vulkan's where BURN_TEST_PLUGINS=vulkan, as tests of a
// driver that computes on the CPU take long.
#include <cstdlib>
#include <string_view>

#include "backends/registry/plugin.h"

namespace burn::test {
namespace {

[[maybe_unused]] const bool kRegistered = [] {
  const auto* const wanted = std::getenv("BURN_TEST_PLUGINS");  // NOLINT(concurrency-mt-unsafe): before any thread
  for (const auto kind : backends::plugin_kinds()) {
    if (kind == "vulkan" && (!wanted || wanted != kind)) continue;
    auto loaded = backends::load_plugin(kind);
    if (loaded.ok() && loaded->open(0).ok()) backends::register_backend(*std::move(loaded));
  }
  return true;
}();

}  // namespace
}  // namespace burn::test
