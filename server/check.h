// What a worker finds on this machine: the answer to burn-server --check.
#pragma once

#include <string>
#include <vector>

namespace burn::server {

struct MachineCheck {
  std::vector<std::string> lines;  // a fact each
  bool can_serve = true;           // every device that was asked for can be opened
};

// `devices`: as ServerOptions::device. Opens and closes them. Loads the plug-ins that there are.
MachineCheck check_machine(const std::string& devices);

}  // namespace burn::server
