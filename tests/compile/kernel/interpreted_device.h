// A device without a device: programs are lowered to kernels of the kernel language, which the interpreter runs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernel/kernel.h"
#include "ir/program.h"
#include "tests/compile/kernel/interpreter.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

using KernelPtr = std::shared_ptr<const compile::kernel::Kernel>;

// The kernels of a program for a device with these facts, each once. Errors: UNIMPLEMENTED.
Result<std::vector<KernelPtr>> kernels_of(const ir::Program& program, const compile::DeviceFacts& facts,
                                          bool fusion = true);

struct InterpretedRun {
  std::vector<reference::Tensor> outputs;
  std::vector<KernelPtr> kernels;  // that it launched, each once
  bool found_wrong_index = false;
  std::vector<std::string> alternatives;  // their names, of all ops that have several
};

// Lowers the program for a device with these facts, and runs it. Errors: UNIMPLEMENTED. Throws where a kernel does what
// is undefined (interpreter.h). `alternative`: which one ops have that have so many; else the first.
Result<InterpretedRun> run_interpreted(const ir::Program& program, std::span<const reference::Tensor> inputs,
                                       const reference::Bindings& bindings, const compile::DeviceFacts& facts,
                                       bool fusion = true, ThreadOrder order = ThreadOrder::forward,
                                       std::size_t alternative = 0);

}  // namespace burn::testing
