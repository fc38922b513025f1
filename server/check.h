// What a worker finds on this machine, for the operator that installs one.
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
