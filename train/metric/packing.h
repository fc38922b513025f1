// Packs tensors of any kind into one f32 vector, so that one read fetches them all. Private to train/metric and
// train/evaluator.
//
// Each element is stored exactly, in several f32 if necessary: one for bool, 8- and 16-bit integers and floats of up to
// 32 bits, two for 32-bit and three for 64-bit integers (24 bits in each, the rest in the last), three for f64 (the
// nearest f32, then twice the f32 nearest to the remainder), which is exact for every f64 in the range of f32.
#pragma once

#include <span>
#include <vector>

#include "client/tensor/data.h"
#include "client/value.h"

namespace burn::metric {

// The number of f32 per element of that dtype.
int pieces_of(ir::DType dtype);

// f32 [n]: the pieces of each tensor, one tensor after the other. Requires: a tensor with an element.
client::Value pack(std::span<const client::Value> tensors);

// The inverse of pack(). Errors: INTERNAL if `packed` does not have as many numbers as the types need.
std::vector<TensorData> unpack(const TensorData& packed, std::span<const ir::TensorType> types);

}  // namespace burn::metric
