// A library's call that says what memory it uses. Of others it is taken to be all that its step has asked for.
#pragma once

#include <utility>
#include <vector>

#include "compile/codegen/emitter.h"

namespace burn::compile {

// Given to Emitter::call(), which finds it in the function that it becomes: what lies between need not know of it.
struct KnownCall {
  std::vector<Address> used;
  LibraryCall call;

  Status operator()(const Bindings& bindings, DeviceQueue queue) const { return call(bindings, queue); }
};

}  // namespace burn::compile
