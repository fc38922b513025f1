// Opens a Session for a device URL. The client registers the network schemes, burn::local those of this process ("cpu",
// ...).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/session.h"

namespace burn::proto {

using SessionFactory = std::function<Result<std::unique_ptr<Session>>(const std::string& url)>;

// Registers `factory` for URLs whose scheme (the part before ':' or '/', or the whole URL) is `scheme`, replacing any
// earlier one. Thread-safe; may be called during static initialisation.
void register_scheme(const std::string& scheme, SessionFactory factory);

// Errors: INVALID_ARGUMENT naming the URL and the registered schemes; those of the factory. Thread-safe.
Result<std::unique_ptr<Session>> open_session(const std::string& url);

}  // namespace burn::proto
