// The TLS options of a daemon.
#pragma once

#include "base/status.h"
#include "daemon/options.h"
#include "net/tls/options.h"

namespace burn::daemon {

// Errors: INVALID_ARGUMENT for options that contradict each other, with their names. Does not read the files.
Result<net::tls::ServerFiles> tls_options(const OptionValues& values);

}  // namespace burn::daemon
