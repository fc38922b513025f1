// Linking this file makes the backends that are loaded at run time known to the tests that walk all kinds of devices,
// where such a device is there: CUDA's on a machine with a GPU.
#include "backends/plugin.h"

namespace burn::test {
namespace {

[[maybe_unused]] const bool kRegistered = [] {
  for (const auto kind : backends::plugin_kinds()) {
    auto loaded = backends::load_plugin(kind);
    if (loaded.ok() && loaded->open(0).ok()) backends::register_backend(*std::move(loaded));
  }
  return true;
}();

}  // namespace
}  // namespace burn::test
