// The options of a daemon's TLS.
#pragma once

#include "base/status.h"
#include "daemon/options.h"
#include "net/tls/options.h"

namespace burn::daemon {

// Errors: INVALID_ARGUMENT for options that do not fit each other, with their names. The files are not looked at.
Result<net::tls::ServerFiles> tls_options(const OptionValues& values);

}  // namespace burn::daemon
