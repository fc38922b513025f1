// The kinds of devices that this program can compute on, by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"

namespace burn::backends {

struct BackendKind {
  std::string name;                                                      // "cpu"
  int devices = 1;                                                       // "cuda:0" to "cuda:<devices - 1>"
  bool computes = true;                                                  // false: results have the right sizes, no more
  std::function<Result<std::unique_ptr<Backend>>(int index)> open = {};  // index < devices
  std::string origin = "built in";                                       // or the file that it was loaded from
  // What it finds on this machine and what it lacks, a fact a line, for people; may be empty.
  std::function<std::vector<std::string>()> report = {};
  // The index of the device that a name tells ("vulkan:NAME"); null: devices have no names.
  std::function<Result<int>(std::string_view name)> find = {};
};

// Makes a kind known, instead of one of that name. Thread-safe; may be called while static objects are built.
void register_backend(BackendKind kind);

// All kinds, by name; those of plug-ins once they have been asked for.
std::vector<BackendKind> backend_kinds();

// One of them, or one that a plug-in has. Errors: NOT_FOUND with what there is; load_plugin()'s. Thread-safe.
Result<BackendKind> backend_kind(std::string_view name);

// The device "KIND", "KIND:INDEX" or, where devices have names, "KIND:NAME"; the index is 0 where it is not said.
// Errors: NOT_FOUND with what there is; INVALID_ARGUMENT for an index that is no number; what its start says otherwise.
// Thread-safe.
Result<std::unique_ptr<Backend>> open_backend(std::string_view device);

// The devices of a list: "cpu,null", or "cuda:0,1,null", where a number alone is another device of the kind before it,
// or "cuda:all", every one that there is: of a kind that has none here, the first, whose opening says why. Errors:
// INVALID_ARGUMENT; of KIND:all, backend_kind()'s.
Result<std::vector<std::string>> parse_devices(std::string_view list);

}  // namespace burn::backends
