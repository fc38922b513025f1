// Several ways to lower an op, of which the fastest on the device is taken.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/compile_names.h"
#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

struct Alternative {
  std::string name;  // the choice is remembered by it
  // Writes all `results`, reading `operands`. Errors: UNIMPLEMENTED, where this way does not do it.
  std::function<Status(Emitter& emit, std::span<const View> operands, std::span<const View> results)> emit;
};

// Emits the fastest, timed once for each key on operands of these shapes. Where nothing is to be timed, for there is no
// GPU or BURN_AUTOTUNE is off: the first that does it. Errors: the last one's, where none does it.
Status emit_fastest(Emitter& emit, const std::string& key, std::span<const View> operands,
                    std::span<const View> results, std::span<const Alternative> alternatives);

}  // namespace burn::backends::cuda
