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
};

// Makes a kind known, instead of one of that name. Thread-safe; may be called while static objects are built.
void register_backend(BackendKind kind);

// All kinds, by name.
std::vector<BackendKind> backend_kinds();

// The device "KIND" or "KIND:INDEX"; the index is 0 where it is not said. Errors: NOT_FOUND with what there is;
// INVALID_ARGUMENT for an index that is no number; what its start says otherwise. Thread-safe.
Result<std::unique_ptr<Backend>> open_backend(std::string_view device);

// The devices of a list: "cpu,null", or "cuda:0,1,null", where a number alone is another device of the kind before it.
// Errors: INVALID_ARGUMENT.
Result<std::vector<std::string>> parse_devices(std::string_view list);

}  // namespace burn::backends
