// Kernels that compute a function of each element of some lists.
#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "compile/codegen/kernel/writer.h"
#include "tests/compile/kernel/interpreter.h"

namespace burn::testing {

namespace kernel = burn::compile::kernel;

using MapBody = std::function<kernel::Value(kernel::Writer&, std::span<const kernel::Value>)>;

// y[i] = body(x0[i], x1[i], ...).
inline kernel::Kernel map_kernel(std::span<const ir::DType> from, ir::DType to, const MapBody& body, int threads = 64,
                                 bool has_exp2 = false) {
  kernel::Writer writer(threads, false, has_exp2);
  std::vector<kernel::Memory> inputs;
  for (const auto dtype : from) inputs.push_back(writer.address(dtype));
  const auto output = writer.address(to);
  const auto count = writer.number(ir::DType::i64), position = writer.position();
  writer.when(position < count, [&] {
    std::vector<kernel::Value> values;
    for (const auto input : inputs) values.push_back(writer.load(input, position));
    writer.store(output, position, body(writer, values));
  });
  return writer.take();
}

// Runs a map_kernel() over lists of equal length, and returns the list of results.
template <typename To, typename... From>
std::vector<To> run_map(const kernel::Kernel& kernel, const std::vector<From>&... from) {
  const std::size_t count = std::get<0>(std::tie(from...)).size();
  std::vector<To> result(count);
  KernelLaunch launch;
  launch.blocks = static_cast<std::int64_t>((count + static_cast<std::size_t>(kernel.threads) - 1) /
                                            static_cast<std::size_t>(kernel.threads));
  (launch.arguments.push_back(reinterpret_cast<std::uint64_t>(from.data())), ...);
  launch.arguments.push_back(reinterpret_cast<std::uint64_t>(result.data()));
  launch.arguments.push_back(count);
  interpret(kernel, launch, nullptr);
  return result;
}

}  // namespace burn::testing
