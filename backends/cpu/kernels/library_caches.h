// Kernels that libraries keep for the next call of the same kind.
#pragma once

namespace burn::backends::cpu {

// Frees oneDNN's generated kernels that no plan uses. Thread-safe; the next call generates its own again.
void drop_library_caches();

}  // namespace burn::backends::cpu
