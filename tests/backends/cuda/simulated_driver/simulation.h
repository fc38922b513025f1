// Access to the functions that the simulated driver has for tests in addition to those of a real driver.
#pragma once

#include <cstddef>
#include <stdexcept>

#include <dlfcn.h>

namespace burn::testing {

// A function of the simulated driver by its name, such as burn_hold_simulation.
template <typename Function>
Function* simulated(const char* name) {
  auto* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* const function = library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
  if (library) dlclose(library);
  if (!function) throw std::runtime_error("another driver than the simulated one");
  return function;
}

}  // namespace burn::testing
