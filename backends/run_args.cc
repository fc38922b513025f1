#include "backends/run_args.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "ir/dispatch.h"

namespace burn::backends {

Status check_args(const ir::Program& program, const RunArgs& args, std::string_view backend,
                  bool (*is_own)(const Buffer& buffer)) {
  if (args.inputs.size() != program.inputs.size()) {
    return invalid_argument(
        fmt::format("run: {} inputs for a program of {}", args.inputs.size(), program.inputs.size()));
  }
  if (args.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return invalid_argument(
        fmt::format("run: {} scalars for a program of {}", args.scalars.size(), program.scalar_count));
  }
  if (!args.failures.empty() && args.failures.size() != args.inputs.size()) {
    return invalid_argument(fmt::format("run: {} failures for {} inputs", args.failures.size(), args.inputs.size()));
  }
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    if (!args.failures.empty() && args.failures[i]) continue;
    const auto* buffer = args.inputs[i].get();
    const auto& type = program.inputs[i].type;
    if (!buffer || !is_own(*buffer))
      return invalid_argument(fmt::format("run: input {} is no buffer of the {} backend", i, backend));
    if (buffer->size() < type.num_bytes()) {
      return invalid_argument(
          fmt::format("run: input {} has {} bytes, {} wants {}", i, buffer->size(), to_string(type), type.num_bytes()));
    }
  }
  return {};
}

std::uint64_t element_of_bits(ir::DType dtype, std::uint64_t bits) {
  std::uint64_t result = 0;
  ir::dispatch(dtype, [&]<typename T>() {
    T value{};
    if constexpr (std::is_same_v<T, bool>)
      value = bits != 0;
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(bits);
    else
      value = static_cast<T>(static_cast<ir::compute_t<T>>(std::bit_cast<double>(bits)));
    std::memcpy(&result, &value, sizeof value);
  });
  return result;
}

SharedBytes filled(const ir::TensorType& type, const ir::Constant& number) {
  const auto element = element_of_bits(number.dtype, static_cast<std::uint64_t>(number.bits()));
  const auto size = ir::size_of(number.dtype);
  std::vector<std::byte> bytes(type.num_bytes());
  for (std::size_t at = 0; element != 0 && at < bytes.size(); at += size) std::memcpy(&bytes[at], &element, size);
  return SharedBytes::own(std::move(bytes));
}

}  // namespace burn::backends
