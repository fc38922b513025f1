#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace burn {

void check_failed(const char* condition, const char* message, std::source_location where) {
  std::fprintf(stderr, "burn: check failed: %s (%s) at %s:%u\n", condition, message, where.file_name(),
               static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace burn
