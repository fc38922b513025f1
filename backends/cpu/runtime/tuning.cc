#include "backends/cpu/runtime/tuning.h"

#include <fstream>

#include "backends/cpu/runtime/parallel.h"
#include "base/fork.h"

namespace burn::backends::cpu {
namespace {

// For example "AMD EPYC 25 17 1": names alone are shared by machines of different kinds.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, name;
  while (std::getline(info, line) && !line.empty()) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto end = line.find_last_not_of(" \t", colon - 1);
    const auto field = std::string_view(line).substr(0, end == std::string::npos ? 0 : end + 1);
    if (field == "model name" || field == "cpu family" || field == "model" || field == "stepping")
      name += line.substr(colon + 1);
  }
  return name.empty() ? " unknown" : name;
}

}  // namespace

Autotune& autotune() {
  static auto& instance = *new OnePerProcess<Autotune>;
  return instance.get([] {
    return std::make_unique<Autotune>(
        autotune_file("cpu" + processor_name() + "-" + std::to_string(thread_count()) + "t"), autotune_is_wanted());
  });
}

}  // namespace burn::backends::cpu
