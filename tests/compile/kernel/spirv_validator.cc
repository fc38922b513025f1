#include "tests/compile/kernel/spirv_validator.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/error.h"
#include "tests/support/temp_folder.h"

namespace burn::testing {

bool has_spirv_val() {
  static const bool has = std::system("spirv-val --version > /dev/null 2>&1") == 0;
  return has;
}

// A process for each module, as the tool reads one; one shell for all of them.
std::vector<std::string> validate(std::span<const SpirvWords> modules) {
  const test::TempFolder folder;
  for (std::size_t k = 0; k < modules.size(); ++k)
    std::ofstream(folder.path() / fmt::format("{}.spv", k), std::ios::binary)
        .write(reinterpret_cast<const char*>(modules[k].data()), static_cast<std::streamsize>(modules[k].size() * 4));
  const auto loop = fmt::format(
      "cd {} && k=0 && while [ $k -lt {} ]; do spirv-val --target-env vulkan1.3 $k.spv > $k.txt 2>&1 || echo invalid "
      ">> $k.txt; k=$((k + 1)); done",
      folder.path().string(), modules.size());
  BURN_CHECK(std::system(loop.c_str()) == 0, "spirv-val could not be run");
  std::vector<std::string> said;
  for (std::size_t k = 0; k < modules.size(); ++k) {
    std::ifstream text(folder.path() / fmt::format("{}.txt", k));
    said.emplace_back(std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>());
  }
  return said;
}

}  // namespace burn::testing
