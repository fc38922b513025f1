// Looks up variables in an environment given as a list of "NAME=value", as main() receives it.
#pragma once

#include <string_view>

namespace burn::daemon {

// The value of a variable; empty if it is not set or `environment` is null. Valid as long as the list.
inline std::string_view environment_value(std::string_view name, const char* const* environment) {
  for (; environment && *environment; ++environment) {
    const std::string_view each{*environment};
    if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=')
      return each.substr(name.size() + 1);
  }
  return {};
}

}  // namespace burn::daemon
