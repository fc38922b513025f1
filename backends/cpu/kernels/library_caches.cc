#include "backends/cpu/kernels/library_caches.h"

#include <dnnl.hpp>

namespace burn::backends::cpu {

void drop_library_caches() {
  const int capacity = dnnl::get_primitive_cache_capacity();
  dnnl::set_primitive_cache_capacity(0);
  dnnl::set_primitive_cache_capacity(capacity);
}

}  // namespace burn::backends::cpu
