// From a device URL to a Session. The client registers the network schemes, burn::local the ones in this process
// ("cpu", ...).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/session.h"

namespace burn::proto {

using SessionFactory = std::function<Result<std::unique_ptr<Session>>(const std::string& url)>;

// Makes URLs whose scheme (the part before ':' or '/', or the whole) is `scheme` open with `factory`, instead of
// whatever did before. Thread-safe; may be called while static objects are built.
void register_scheme(const std::string& scheme, SessionFactory factory);

// Errors: INVALID_ARGUMENT naming the URL and the schemes there are; what the factory says. Thread-safe.
Result<std::unique_ptr<Session>> open_session(const std::string& url);

}  // namespace burn::proto
