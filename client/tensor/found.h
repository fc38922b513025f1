// Results whose shape depends on the data: the positions where a mask is true, and the elements of x there.
//
// A first program sorts the positions and counts them; only the count is waited for (one round trip). A second program
// computes the result for the count rounded up to a power of two; the result is a slice of that. So the number of
// programs is that of mask shapes times that of powers of two, however many different counts occur.
#pragma once

#include <future>
#include <vector>

#include "client/ops/ops.h"
#include "client/tensor/data.h"

namespace burn::client {

// The positions where a mask is true, at the start of `order` (i64, row-major positions in `shape`), and their count.
struct Found {
  ir::Shape shape;
  Value order;  // of size 0 if the mask has no elements
  std::future<TensorData> count;
  Site site;
};

// Requests the count and returns at once. The functions below wait for it.
Found find(const Value& mask, const char* op, const Site& site);

Value argwhere(Found found);              // i64 [n, rank]
std::vector<Value> nonzero(Found found);  // rank times i64 [n]
// `found`: of a mask of x's shape. -> [n]
Value mask_select(const Value& x, Found found);
// The mask expanded to the shape of x, for mask_select().
Value mask_over(const Value& mask, const Value& x, const Site& site);

}  // namespace burn::client
