#include "backends/cuda/driver/nvrtc.h"

#include <fmt/format.h>
#include <nvrtc.h>
#include <xxhash.h>

#include "base/cache_folder.h"
#include "base/settings.h"

namespace burn::backends::cuda {
namespace {

#define BURN_NVRTC(FN)       \
  FN(nvrtcVersion)           \
  FN(nvrtcCreateProgram)     \
  FN(nvrtcDestroyProgram)    \
  FN(nvrtcCompileProgram)    \
  FN(nvrtcGetProgramLogSize) \
  FN(nvrtcGetProgramLog)     \
  FN(nvrtcGetCUBINSize)      \
  FN(nvrtcGetCUBIN)          \
  FN(nvrtcGetErrorString)

struct Nvrtc {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_NVRTC(FN)
#undef FN
};
Nvrtc table;

constexpr int kMajor = 1000;  // 13.0 is 13000

// Owns an NVRTC program.
class Compilation {
 public:
  Compilation() = default;
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() {
    if (program) table.nvrtcDestroyProgram(&program);
  }
  nvrtcProgram program = nullptr;
};

Status check(nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return {};
  return internal_error(fmt::format("CUDA: {}: {}", what, table.nvrtcGetErrorString(result)));
}

// Everything that the machine code depends on, as a file name.
std::string cache_key(const std::string& text, const std::string& architecture) {
  const auto version = nvrtc_library().version();
  auto all = fmt::format("{} {} {}\n{}", architecture, version / kMajor, version % kMajor, text);
  for (const auto& header : kernel_headers()) all += header.text;
  const auto hash = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}.cubin", hash.high64, hash.low64);
}

constexpr std::string_view kElfMagic{"\177ELF", 4};
constexpr std::size_t kMaxCodeBytes = std::size_t{64} << 20;  // per kernel on disk; typical are some 10 KiB

}  // namespace

SharedLibrary& nvrtc_library() {
#define FN(name) BURN_LIBRARY_FUNCTION(#name, table.name),
  static auto& library = *new SharedLibrary({
      .title = "NVRTC",
      .file = "libnvrtc",
      .releases = {{"libnvrtc.so.13"}, {"libnvrtc.so.12"}, {"/usr/local/cuda/lib64/libnvrtc.so"}},
      .functions = {BURN_NVRTC(FN)},
      .missing = "CUDA: libnvrtc, which compiles kernels, is not there",
      .lacking = "CUDA: libnvrtc has no",
      .version =
          [] {
            int major = 0, minor = 0;
            return table.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS ? major * kMajor + minor : 0;
          },
      .written = [](int version) { return fmt::format("{}.{}", version / kMajor, version % kMajor); },
  });
#undef FN
  return library;
}

Result<std::string> compile_kernel(const std::string& text, const std::string& architecture) {
  BURN_RETURN_IF_ERROR(nvrtc_library().load());
  std::vector<const char*> names, texts;
  for (const auto& header : kernel_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Compilation compilation;
  BURN_RETURN_IF_ERROR(check(table.nvrtcCreateProgram(&compilation.program, text.c_str(), "kernel.cu",
                                                      static_cast<int>(names.size()), texts.data(), names.data()),
                             "a kernel's text"));
  const auto target = "--gpu-architecture=" + architecture;
  const char* options[] = {"--std=c++20", target.c_str(), "--device-as-default-execution-space",
                           "--diag-suppress=186,177,550"};  // comparisons of unsigned numbers with 0; declarations that
                                                            // a kernel does not use
  const auto result = table.nvrtcCompileProgram(compilation.program, static_cast<int>(std::size(options)), options);
  if (result != NVRTC_SUCCESS) {
    std::size_t size = 0;
    table.nvrtcGetProgramLogSize(compilation.program, &size);
    std::string log(size, '\0');
    if (size > 0) table.nvrtcGetProgramLog(compilation.program, log.data());
    return internal_error(fmt::format("CUDA: a kernel does not compile: {}\n{}\n{}", table.nvrtcGetErrorString(result),
                                      log.c_str(), text));
  }
  std::size_t size = 0;
  BURN_RETURN_IF_ERROR(check(table.nvrtcGetCUBINSize(compilation.program, &size), "a kernel's code"));
  std::string code(size, '\0');
  BURN_RETURN_IF_ERROR(check(table.nvrtcGetCUBIN(compilation.program, code.data()), "a kernel's code"));
  return code;
}

Result<std::string> cached_kernel(const std::string& text, const std::string& architecture) {
  BURN_RETURN_IF_ERROR(nvrtc_library().load());
  const std::string root = cache_folder();
  if (root.empty()) return compile_kernel(text, architecture);
  const CacheFolder kept(root, "kernels");
  const auto name = cache_key(text, architecture);
  auto known = kept.read(name, kMaxCodeBytes);
  if (known.ok() && known->starts_with(kElfMagic)) return known;
  warn_of_cache(known.status());
  BURN_TRY(auto code, compile_kernel(text, architecture));
  warn_of_cache(kept.write(name, code));
  return code;
}

}  // namespace burn::backends::cuda
