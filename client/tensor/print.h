// Printing of tensors: nested brackets as numpy prints them, without the middle of long axes.
#pragma once

#include <cstdint>
#include <string>

#include "client/tensor/data.h"

namespace burn {

struct PrintOptions {
  std::int64_t threshold = 1000;  // with more elements than this, long axes are shortened
  std::int64_t edge_items = 3;    // to this many at either end
  int precision = 4;              // digits after the point
  int line_width = 80;
};

// The options of operator<< and of to_string without options; for the whole process, safe from any thread.
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

// "[[1., 2.],\n [3., 4.]]"
std::string to_string(const TensorData& data);
std::string to_string(const TensorData& data, const PrintOptions& options);

}  // namespace burn
