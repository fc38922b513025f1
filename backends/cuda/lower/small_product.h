// Products with too few result tiles to keep a GPU busy, by a kernel of our own that splits the depth between blocks:
// one launch, where a library's split-k takes two and a workspace.
#pragma once

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/cublas.h"

namespace burn::backends::cuda {

// Whether the kernel is worth a trial on this device.
bool is_small(const Device& device, const Product& product);

// Requires: is_small(), an epilogue that is none or a bias. `vector`: the bias.
void multiply_small(Emitter& emit, const Product& product, const View& a, const View& b, const View& c,
                    const Address& vector);

}  // namespace burn::backends::cuda
