#include "tests/backends/run_program.h"

namespace burn::testing {

Result<backends::BufferPtr> upload(backends::Backend& backend, const reference::Tensor& x) {
  const auto bytes = reference::to_bytes(x);
  BURN_TRY(auto buffer, backend.allocate(bytes.size()));
  BURN_RETURN_IF_ERROR(backend.upload(*buffer, bytes));
  return buffer;
}

Result<reference::Tensor> download(backends::Backend& backend, const backends::BufferPtr& buffer,
                                   const ir::TensorType& type) {
  BURN_TRY(const auto bytes, backend.download(buffer, type.num_bytes()));
  return reference::from_bytes(type, bytes.span());
}

Result<std::vector<reference::Tensor>> run_program(backends::Backend& backend, const ir::Program& program,
                                                   std::span<const reference::Tensor> inputs,
                                                   const reference::Bindings& bindings) {
  BURN_TRY(const auto executable, backend.compile(std::make_shared<const ir::Program>(program)));
  backends::RunArgs args{.scalars = bindings.scalars, .seed = bindings.seed, .random_offset = bindings.random_offset};
  for (const auto& input : inputs) {
    BURN_TRY(auto buffer, upload(backend, input));
    args.inputs.push_back(std::move(buffer));
  }
  BURN_TRY(const auto result, executable->run(std::move(args)));
  for (const auto& failure : result.failures) {
    if (failure) return *failure;
  }
  std::vector<reference::Tensor> outputs;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    BURN_TRY(auto output, download(backend, result.outputs[i], program.type_of(program.outputs[i])));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace burn::testing
