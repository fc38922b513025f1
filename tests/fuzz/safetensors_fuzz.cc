// A record file off the network: it loads, or it is refused with burn::Error.
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = burn::SharedBytes::own(std::vector<std::uint8_t>(data, data + size));
  try {
    const auto record = burn::Record::from_bytes(bytes);
    for (const auto& [name, tensor] : record) (void)tensor.to_vec_as<double>();
    // What was accepted survives being written and read again.
    const auto again = burn::Record::from_bytes(record.to_bytes());
    if (again.names() != record.names() || again.metadata() != record.metadata()) __builtin_trap();
  } catch (const burn::Error&) {
  }
  return 0;
}
