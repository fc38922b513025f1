// Jump targets of a kernel's structured control flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compile/codegen/kernel/kernel.h"

namespace burn::testing {

// Indices of instructions, for each instruction of the kernel.
struct Targets {
  std::vector<std::size_t> end, otherwise, loop;  // of a loop or branch; of an end: where it began; innermost loop

  explicit Targets(const compile::kernel::Kernel& kernel)
      : end(kernel.body.size()), otherwise(kernel.body.size()), loop(kernel.body.size()) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < kernel.body.size(); ++i) {
      const auto code = kernel.body[i].code;
      if (code == compile::kernel::Code::loop || code == compile::kernel::Code::when) open.push_back(i);
      if (code == compile::kernel::Code::otherwise) otherwise[open.back()] = i;
      if (code == compile::kernel::Code::end_loop || code == compile::kernel::Code::end_when) {
        end[open.back()] = i;
        end[i] = open.back();
        if (otherwise[open.back()] != 0) end[otherwise[open.back()]] = i;
        open.pop_back();
      }
      if (code == compile::kernel::Code::break_when) {
        const auto found = std::find_if(open.rbegin(), open.rend(), [&](std::size_t at) {
          return kernel.body[at].code == compile::kernel::Code::loop;
        });
        loop[i] = *found;
      }
    }
  }
};

}  // namespace burn::testing
