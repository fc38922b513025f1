// What the log says when a certificate is read again.
#pragma once

#include <string_view>

#include "base/status.h"
#include "net/tls/server_tls.h"

namespace burn::daemon {

// `read`: what reading it again said; `cause`: "changed", "signal 1".
void log_certificate(const net::tls::ServerTls& tls, const Status& read, std::string_view cause);

}  // namespace burn::daemon
