// A kernel, as a device compiles it: text, or instructions of the kernel language.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace burn::compile::kernel {
struct Kernel;  // codegen/kernel/kernel.h
}

namespace burn::compile {

namespace kernel {
struct Kernel;  // codegen/kernel/kernel.h
}

// CUDA C++ with one kernel, `extern "C" __global__ void burn_kernel(...)`. It may include backends/cuda/kernels/*.h
// and the headers that ir/semantics/device.h names. The text should not have in it what changes from call to call of
// the same kind, such as extents: it is compiled once for every different text. Or, for devices that take instructions:
// `kernel`, and a text that no other kernel has.
struct KernelSource {
  std::string text;
  std::shared_ptr<const kernel::Kernel> kernel = nullptr;
};

// A kernel whose blocks of 256 threads work apart from each other, in parts: several of the same text can be launched
// as one, each with arguments of its own.
struct BlockKernel {
  struct Parameter {
    std::string type, name;  // of eight bytes, or a multiple
  };
  std::string functions;  // before the kernel; leaves a namespace open
  std::vector<Parameter> parameters;
  std::string body;  // finds its number in `block`, as an unsigned

  KernelSource alone() const;
  // Of up to so many.
  KernelSource merged(std::size_t most) const;
};

}  // namespace burn::compile
