// Checks what a worker finds on this machine, for burn-server --check.
#pragma once

#include <string>
#include <vector>

namespace burn::server {

struct MachineCheck {
  std::vector<std::string> lines;  // one fact per line
  bool can_serve = true;           // every requested device can be opened
};

// `devices`: as in ServerOptions::device. Opens and closes them. Loads all plug-ins.
MachineCheck check_machine(const std::string& devices);

}  // namespace burn::server
