// Tensors of any kind as one vector of f32, so that one read fetches them all. Private to train/metric and
// train/evaluator.
//
// An element takes as many f32 as hold it exactly: one for bool, 8- and 16-bit integers and floats of up to 32 bits,
// two for 32-bit and three for 64-bit integers (24 bits in each, the rest in the last), three for f64 (the nearest f32,
// and twice the nearest of what is left), which keeps every f64 in the range of f32.
#pragma once

#include <span>
#include <vector>

#include "client/tensor/data.h"
#include "client/value.h"

namespace burn::metric {

// How many f32 an element of that dtype takes.
int pieces_of(ir::DType dtype);

// f32 [n]: the pieces of each tensor, one tensor after the other. Requires: a tensor with an element.
client::Value pack(std::span<const client::Value> tensors);

// The tensors again. Errors: INTERNAL where `packed` does not have as many numbers as the types take.
std::vector<TensorData> unpack(const TensorData& packed, std::span<const ir::TensorType> types);

}  // namespace burn::metric
