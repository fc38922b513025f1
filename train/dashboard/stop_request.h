// A dashboard's request to stop the training that it shows.
#pragma once

#include <cstdint>
#include <functional>

namespace burn::train::dashboard {

enum class StopRequest : std::uint8_t { with_checkpoint, without_checkpoint };

// Called by a dashboard's threads; returns at once.
using Stop = std::function<void(StopRequest)>;

}  // namespace burn::train::dashboard
