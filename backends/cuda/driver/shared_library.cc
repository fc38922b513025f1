#include "backends/cuda/driver/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace burn::backends::cuda {
namespace {

void* find_in(const std::vector<void*>& files, const char* name) {
  for (auto* file : files) {
    if (auto* function = dlsym(file, name)) return function;
  }
  return nullptr;
}

}  // namespace

std::string version_by_ten_thousands(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string version_by_thousands(int version) {
  return fmt::format("{}.{}.{}", version / 1000, version / 100 % 10, version % 100);
}

Status SharedLibrary::open_a_release() {
  std::string why;
  for (const auto& release : table_.releases) {
    files_.clear();
    for (const auto* name : release) {
      auto* file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!file) break;
      files_.push_back(file);
    }
    if (files_.size() == release.size()) return {};
    why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one text for each thread
  }
  files_.clear();
  return failed_precondition(fmt::format("{} ({})", table_.missing, why));
}

Status SharedLibrary::open() {
  BURN_RETURN_IF_ERROR(open_a_release());
  for (const auto& [name, keep] : table_.functions) {
    auto* function = find_in(files_, name);
    if (!function) return failed_precondition(fmt::format("{} {}", table_.lacking, name));
    keep(function);
  }
  if (table_.oldest > 0 && version() < table_.oldest)
    return failed_precondition(fmt::format("CUDA: {} is of version {}; {} is the oldest that is supported", table_.file,
                                           version(), table_.oldest));
  return {};
}

const Status& SharedLibrary::load() {
  std::call_once(once_, [this] { loaded_ = open(); });
  return loaded_;
}

void* SharedLibrary::find(const char* name) { return load().ok() ? find_in(files_, name) : nullptr; }

}  // namespace burn::backends::cuda
