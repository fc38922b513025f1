// From a device URL to a Session: network schemes are built in, in-process ones ("cpu", "null") are added by burn::local.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "proto/session.h"

namespace burn::client {

using SessionFactory = std::function<Result<std::unique_ptr<proto::Session>>(const std::string& url)>;

// Makes URLs whose scheme (the part before ':', or the whole) is `scheme` open with `factory`. Thread-safe.
void register_scheme(const std::string& scheme, SessionFactory factory);

// Errors: INVALID_ARGUMENT naming the URL and the schemes there are; what the factory or connect() says.
Result<std::unique_ptr<proto::Session>> open_session(const std::string& url);

}  // namespace burn::client
