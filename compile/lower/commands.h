// What a program makes the device do, in order: kernels, fills and calls of libraries, with addresses that each run
// fills in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "compile/codegen/emitter.h"

namespace burn::compile {

// What it takes to launch a kernel together with others of its kind (batch_launches.h). Not kept after a program is
// lowered.
struct MergeableLaunch {
  std::shared_ptr<const BlockKernel> kernel;
  std::vector<Argument> arguments;
  std::vector<Address> written;
  bool is_part = false;  // writes other bytes than the others of its step
};

struct Launch {
  std::size_t source = 0;  // which of the program's kernels
  Grid grid;
  std::vector<std::byte> parameters;                       // back to back, each aligned to 16 bytes
  std::vector<std::size_t> offsets;                        // where each parameter begins
  std::vector<std::pair<std::size_t, Address>> addresses;  // where in `parameters` an address belongs

  std::shared_ptr<const MergeableLaunch> mergeable;

  Launch(std::size_t source, const Grid& grid, std::span<const Argument> arguments);
};

struct Fill {  // with zeros
  Address where;
  std::size_t bytes = 0;
};

// A value, or scratch memory, that a command uses.
struct Use {
  Address where;
  bool is_written = false;  // or read only
};

struct Command {
  std::variant<Launch, Fill, LibraryCall> what;
  std::int32_t step = 0;       // of the plan
  std::vector<Use> uses = {};  // all memory that other commands may write
};

}  // namespace burn::compile
