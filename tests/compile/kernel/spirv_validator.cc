#include "tests/compile/kernel/spirv_validator.h"

#include "compile/codegen/dialects/spirv.h"
#include "tests/compile/kernel/older_matrices.h"

#ifdef BURN_SPIRV_TOOLS
#include <memory>

#include <spirv-tools/libspirv.h>
#endif

namespace burn::testing {

#ifdef BURN_SPIRV_TOOLS
bool has_spirv_val() { return true; }

std::string validate(const SpirvWords& newer) {
  const auto words = with_older_matrices(newer);
  const std::unique_ptr<spv_context_t, void (*)(spv_context)> context(spvContextCreate(SPV_ENV_VULKAN_1_3),
                                                                      spvContextDestroy);
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic found = nullptr;
  const auto result = spvValidate(context.get(), &binary, &found);
  const std::unique_ptr<spv_diagnostic_t, void (*)(spv_diagnostic)> diagnostic(found, spvDiagnosticDestroy);
  if (result == SPV_SUCCESS) return "";
  return diagnostic && diagnostic->error ? diagnostic->error : "invalid";
}
#else
bool has_spirv_val() { return false; }
std::string validate(const SpirvWords&) { return ""; }
#endif

std::string validate(const compile::kernel::Kernel& kernel, const compile::DeviceFacts& facts) {
  return validate(compile::print_spirv(kernel, facts));
}

}  // namespace burn::testing
