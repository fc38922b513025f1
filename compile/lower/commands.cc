#include "compile/lower/commands.h"

#include <algorithm>
#include <cstring>

namespace burn::compile {

Launch::Launch(std::size_t kernel, const Grid& shape, std::span<const Argument> arguments)
    : source(kernel), grid(shape) {
  for (const auto& argument : arguments) {
    const auto offset = (parameters.size() + 15) / 16 * 16;
    offsets.push_back(offset);
    parameters.resize(offset + std::max<std::size_t>(argument.bytes().size(), sizeof(DeviceAddress)));
    if (argument.is_address())
      addresses.emplace_back(offset, argument.address());
    else
      std::memcpy(parameters.data() + offset, argument.bytes().data(), argument.bytes().size());
  }
}

}  // namespace burn::compile
