// Tells the service manager that has started this process (systemd, Type=notify) how far it is.
#pragma once

#include <string_view>

namespace burn::daemon {

// `state`: "READY=1", "STOPPING=1". Does nothing where no manager listens (NOTIFY_SOCKET), and never waits.
void notify_service_manager(std::string_view state);

}  // namespace burn::daemon
