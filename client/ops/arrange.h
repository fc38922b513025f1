// Functions that permute, cut and pad tensors, as composites of the ops of client/ops/ops.h (views, slices, gathers):
// they have no op and no gradient rule of their own. Negative dims count from the end. Errors are thrown as burn::Error
// with shapes and call site.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "client/ops/ops.h"

namespace burn::client {

// --- order of dims and of elements -----------------------------------------------------------------------------------
// Moves the dims `from` to the positions `to`; the other dims keep their order.
Value movedim(const Value& x, std::span<const std::int64_t> from, std::span<const std::int64_t> to, const Site& site);
// y[i] = x[(i + shift) mod n] along each dim, one after the other: a positive shift moves elements toward index 0.
Value roll(const Value& x, std::span<const std::int64_t> shifts, std::span<const std::int64_t> dims, const Site& site);
Value squeeze_all(const Value& x, const Site& site);  // removes all dims of size 1, but keeps rank 1
Value unsqueeze_to(const Value& x, std::int64_t rank, const Site& site);  // adds leading dims of size 1
Value repeat_dim(const Value& x, std::int64_t dim, std::int64_t times, const Site& site);
// [..., n, ...] -> [..., windows, ..., size]: windows of `size` elements, `step` apart; none where size > n.
Value unfold(const Value& x, std::int64_t dim, std::int64_t size, std::int64_t step, const Site& site);

// --- parts -----------------------------------------------------------------------------------------------------------
Value slice_dim(const Value& x, std::int64_t dim, const Range& range, const char* op, const Site& site);
Value slice_fill(const Value& x, std::span<const Range> ranges, Scalar value, const Site& site);
Value select_dim(const Value& x, std::int64_t dim, std::int64_t index, const Site& site);  // removes dim; rank >= 1
std::vector<Value> split(const Value& x, std::int64_t size, std::int64_t dim, const Site& site);  // last: remainder
std::vector<Value> split_with_sizes(const Value& x, std::span<const std::int64_t> sizes, std::int64_t dim,
                                    const Site& site);
// Pieces of size ceil(n / chunks), the last with the remainder. There may be fewer than `chunks`: n pieces of size 1 if
// n < chunks.
std::vector<Value> chunk(const Value& x, std::int64_t chunks, std::int64_t dim, const Site& site);

// --- borders ---------------------------------------------------------------------------------------------------------
// constant: fills with `value`; reflect: mirrors at the edge element, which is not repeated (so padding < size); edge:
// repeats the edge element. Several dims are padded one after the other.
enum class PadKind : std::uint8_t { constant, reflect, edge };
using Padding = std::vector<std::pair<std::int64_t, std::int64_t>>;  // {before, after} for each of the last dims
Value pad_as(const Value& x, const Padding& pads, PadKind kind, Scalar value, const Site& site);

// --- matrices and grids ----------------------------------------------------------------------------------------------
// The elements on and above (triu) or on and below (tril) the diagonal column - row = `diagonal` of the last two dims;
// zeros elsewhere.
Value triu(const Value& x, std::int64_t diagonal, const Site& site);
Value tril(const Value& x, std::int64_t diagonal, const Site& site);
// bool: true where `fn`(column - row, offset) over the last two dims of `shape`.
Value eye(const Place& place, std::int64_t size, ir::DType dtype, const Site& site);
Value diagonal_mask(const Place& place, const ir::Shape& shape, ir::PointwiseFn fn, std::int64_t offset, const char* op,
                    const Site& site);
// i64 [*shape, rank]: at [i, j, ...] the numbers i, j, ...
Value cartesian_grid(const Place& place, const ir::Shape& shape, const Site& site);
// One tensor for each of the vectors: x_k varies along dim k. cartesian: the first two dims are swapped ("xy"). sparse:
// the other dims have size 1.
std::vector<Value> meshgrid(std::span<const Value> axes, bool is_cartesian, bool is_sparse, const Site& site);

}  // namespace burn::client
