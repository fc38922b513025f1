// Sends the spans of a client program's runs, as the settings BURN_OTLP and BURN_TRACE_ONE_IN say.
#pragma once

#include <memory>

#include "base/span.h"
#include "base/status.h"

namespace burn::net {

// The sink of the process, made by the first call; null if BURN_OTLP is not set. Waiting spans are sent at the end of
// the process. Thread-safe. Errors: INVALID_ARGUMENT for a malformed URL; RESOURCE_EXHAUSTED if no thread can be
// started.
Result<std::shared_ptr<SpanSink>> client_spans();

}  // namespace burn::net
