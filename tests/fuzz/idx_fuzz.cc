// A downloaded data set: it is read, or refused with a Status.
#include <cstdint>
#include <span>

#include "data/idx.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const int rank : {1, 3}) {
    const auto array = burn::data::parse_idx(std::as_bytes(std::span(data, size)), rank);
    if (array.ok() && array->values.size() != static_cast<std::size_t>(burn::ir::num_elements(array->shape)))
      __builtin_trap();
  }
  return 0;
}
