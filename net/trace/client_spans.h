// Where a client's program sends the spans of its runs: as the settings BURN_OTLP and BURN_TRACE_ONE_IN say.
#pragma once

#include <memory>

#include "base/span.h"
#include "base/status.h"

namespace burn::net {

// One for the process, made by the first call; null where BURN_OTLP is not set. What waits at the end of the process is
// sent then. Thread-safe. Errors: INVALID_ARGUMENT for a URL that makes no sense; RESOURCE_EXHAUSTED where there are no
// more threads.
Result<std::shared_ptr<SpanSink>> client_spans();

}  // namespace burn::net
