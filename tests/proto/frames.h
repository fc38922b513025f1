// A sample frame of every kind, and helpers for the bytes of frames.
#pragma once

#include <string>
#include <vector>

#include "proto/codec.h"

namespace burn::proto {

struct NamedFrame {
  std::string name;
  Frame frame;
};

// Every body once, with every field set; writes and data inline. Every call returns the same frames.
std::vector<NamedFrame> sample_frames();

// A program of a few nodes with call sites and a donated input.
std::shared_ptr<const ir::Program> sample_program();

// The features that sample_program() lacks: several results, real attributes, recomputation, a box of random numbers.
std::shared_ptr<const ir::Program> language_program();

// A program that consists of this op.
std::shared_ptr<const ir::Program> program_of(const ir::Op& op, std::span<const ir::TensorType> operands);

std::string to_string(const EncodedFrame& frame);  // header and payload in one
SharedBytes shared(std::string bytes);

}  // namespace burn::proto
