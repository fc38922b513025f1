// What the simulated driver has beside what drivers have, for the tests.
#pragma once

#include <cstddef>
#include <stdexcept>

#include <dlfcn.h>

namespace burn::testing {

// Of the simulated driver, by its name: burn_hold_simulation and so on.
template <typename Function>
Function* simulated(const char* name) {
  auto* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* const function = library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
  if (library) dlclose(library);
  if (!function) throw std::runtime_error("another driver than the simulated one");
  return function;
}

}  // namespace burn::testing
