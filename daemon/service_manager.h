// Notifies the service manager that started this process (systemd, Type=notify) of its state.
#pragma once

#include <string_view>

namespace burn::daemon {

// `state`: "READY=1", "STOPPING=1". Does nothing if no manager listens (NOTIFY_SOCKET); never blocks.
void notify_service_manager(std::string_view state);

}  // namespace burn::daemon
