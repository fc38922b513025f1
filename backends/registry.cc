#include "backends/backend.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/null/null_backend.h"

namespace burn::backends {

Result<std::unique_ptr<Backend>> open_backend(std::string_view name) {
  if (name == "cpu") return open_cpu_backend();
  if (name == "null") return open_null_backend();
  return not_found("there is no backend \"" + std::string(name) + "\"; there are: cpu, null");
}

}  // namespace burn::backends
