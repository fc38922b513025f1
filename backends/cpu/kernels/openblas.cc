#include "backends/cpu/kernels/openblas.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <cblas.h>

// Not declared in its header, and missing in an OpenBLAS for a single processor.
extern "C" {
[[gnu::weak]] void gotoblas_dynamic_init();
[[gnu::weak]] void gotoblas_dynamic_quit();
}

namespace burn::backends::cpu {

bool choose_openblas_kernels() {
#if defined(__x86_64__)
  constexpr const char* kSetting = "OPENBLAS_CORETYPE";
  constexpr std::string_view kWithoutAvx[] = {"Unknown", "Generic", "Katmai", "Coppermine", "Northwood", "Prescott",
                                              "Banias",  "Core2",   "Penryn", "Dunnington", "Nehalem",   "Atom"};
  // NOLINTBEGIN(concurrency-mt-unsafe): called while the program's variables are initialised, before there are threads
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || std::getenv(kSetting)) return false;
  __builtin_cpu_init();
  const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!has_v3 || std::ranges::find(kWithoutAvx, std::string_view(openblas_get_corename())) == std::end(kWithoutAvx))
    return false;
  const bool has_v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  ::setenv(kSetting, has_v4 ? "SkylakeX" : "Haswell", /*overwrite=*/1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(kSetting);
  // NOLINTEND(concurrency-mt-unsafe)
  return true;
#else
  return false;
#endif
}

}  // namespace burn::backends::cpu
