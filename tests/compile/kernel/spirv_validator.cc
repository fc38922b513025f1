#include "tests/compile/kernel/spirv_validator.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "compile/codegen/dialects/spirv.h"
#include "tests/support/temp_folder.h"

namespace burn::testing {

bool has_spirv_val() {
  static const bool has = std::system("spirv-val --version > /dev/null 2>&1") == 0;
  return has;
}

std::string validate(const compile::kernel::Kernel& kernel, const compile::DeviceFacts& facts) {
  static const test::TempFolder folder;
  const auto path = folder.path() / "kernel.spv";
  const auto words = compile::print_spirv(kernel, facts);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  const std::unique_ptr<FILE, int (*)(FILE*)> tool(
      popen(fmt::format("spirv-val --target-env vulkan1.3 {} 2>&1", path.string()).c_str(), "r"), pclose);
  std::string said;
  for (std::array<char, 512> line{}; std::fgets(line.data(), line.size(), tool.get()) != nullptr;) said += line.data();
  return said;
}

}  // namespace burn::testing
