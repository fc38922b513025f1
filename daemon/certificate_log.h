// Logs that a certificate was read again.
#pragma once

#include <string_view>

#include "base/status.h"
#include "net/tls/server_tls.h"

namespace burn::daemon {

// `read`: the status of reading it; `cause`: why it was read, "changed" or "signal 1".
void log_certificate(const net::tls::ServerTls& tls, const Status& read, std::string_view cause);

}  // namespace burn::daemon
