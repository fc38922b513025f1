// Running a program on a backend with tensors of the reference.
#pragma once

#include <vector>

#include "backends/backend.h"
#include "tests/ops/samples.h"

namespace burn::testing {

// A buffer with the elements of x.
Result<backends::BufferPtr> upload(backends::Backend& backend, const reference::Tensor& x);

Result<reference::Tensor> download(backends::Backend& backend, const backends::BufferPtr& buffer,
                                   const ir::TensorType& type);

// Compiles, uploads, runs once and downloads.
Result<std::vector<reference::Tensor>> run_program(backends::Backend& backend, const ir::Program& program,
                                                   std::span<const reference::Tensor> inputs,
                                                   const reference::Bindings& bindings = {});

}  // namespace burn::testing
