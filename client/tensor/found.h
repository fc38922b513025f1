// Results whose shape depends on numbers: where a mask holds, and what x has there.
//
// One program puts the places in order and counts them; its count is the one number that is waited for (a round trip).
// A second one, made for the next power of two above the count, computes what was asked for, and a slice of that is the
// result. So there are as many programs as masks of different shape times the powers of two, however many counts occur.
#pragma once

#include <future>
#include <vector>

#include "client/ops/ops.h"
#include "client/tensor/data.h"

namespace burn::client {

// The places where a mask holds, first in `order` (i64, row-major positions in `shape`), and how many there are.
struct Found {
  ir::Shape shape;
  Value order;  // empty where the mask is
  std::future<TensorData> count;
  Site site;
};

// Asks for the count and returns at once. The functions below wait for it.
Found find(const Value& mask, const char* op, const Site& site);

Value argwhere(Found found);              // i64 [n, rank]
std::vector<Value> nonzero(Found found);  // rank times i64 [n]
// `found` of a mask of x's shape. -> [n]
Value mask_select(const Value& x, Found found);
// The mask of a mask_select: one that broadcasts over x is repeated.
Value mask_over(const Value& mask, const Value& x, const Site& site);

}  // namespace burn::client
