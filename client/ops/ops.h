// Tensor functions without templates: Tensor<D, K> forwards to them, and gradient rules are written with them. Each
// records one op or a few; a composite of them (softmax, losses, norms) needs no code anywhere else. Errors are thrown
// as burn::Error with shapes and call site.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/scalar.h"
#include "client/value.h"
#include "ir/op.h"

namespace burn::client {

using Site = ir::CallSite;

// --- creation (creation.cc); shapes and dtype as given, on `device` --------------------------------------------------
struct Place {  // the device that a tensor is made on, with or without tracking of gradients
  std::shared_ptr<DeviceState> device;
  bool autodiff = false;
};
inline Place place_of(const Value& like) { return {like.device(), like.is_autodiff()}; }

// A number for an integer dtype is rounded toward zero; one that the dtype cannot represent is an error
// (integer_scalar.h).
Value scalar(const Place& place, Scalar value, ir::DType dtype,
             const Site& site = {});  // [] in a slot: may differ from run to run
Value constant(const Place& place, Scalar value, ir::DType dtype, const Site& site);  // [], part of the program
Value full(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site);
// Like full(), but the number is part of the program: for zeros, ones and constants of formulas.
Value filled(const Place& place, const ir::Shape& shape, Scalar value, ir::DType dtype, const Site& site);
Value arange(const Place& place, std::int64_t start, std::int64_t end, std::int64_t step, ir::DType dtype,
             const Site& site);
// [] of bool, for select(commit(...), x, old): false if an input or an op that x depends on failed, of those recorded
// before the commit; the result is then `old` (ir/ops/commit.h).
Value commit(const Place& place, const Site& site);
// x, or `old` if an op that x depends on and that is recorded so far fails: for state that outlives a failed run.
Value kept_if_failed(const Value& x, const Value& old, const Site& site);
Value random(const Place& place, ir::RandomFn fn, const ir::Shape& shape, ir::DType dtype,
             const Site& site);  // see random.cc
Value upload(const Place& place, proto::HostTensor tensor);

// --- element by element (pointwise.cc); two tensors broadcast between equal ranks (sizes equal or 1) -----------------
Value pointwise(ir::PointwiseFn fn, const Value& x, const Site& site);
Value pointwise(ir::PointwiseFn fn, const Value& a, const Value& b, const Site& site);
Value pointwise(ir::PointwiseFn fn, const Value& a, Scalar b, const Site& site);  // of integers: see integer_scalar.h
Value pointwise(ir::PointwiseFn fn, Scalar a, const Value& b, const Site& site);
Value select(const Value& condition, const Value& a, const Value& b, const Site& site);
Value cast(const Value& x, ir::DType dtype, const Site& site);

// --- shape (shape.cc) ------------------------------------------------------------------------------------------------
int normalize_axis(std::int64_t axis, int rank, const char* op, const Site& site);  // negative counts from the end
ir::Dims normalize_axes(std::span<const std::int64_t> axes, int rank, const char* op,
                        const Site& site);  // sorted, unique
inline int normalize_axis(std::int64_t axis, const Value& x, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  return normalize_axis(axis, x.rank(), op, site);
}
inline ir::Dims normalize_axes(std::span<const std::int64_t> axes, const Value& x, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  return normalize_axes(axes, x.rank(), op, site);
}

Value reshape(const Value& x, const ir::Shape& shape, const Site& site);  // -1: inferred, 0: copied from x
Value permute(const Value& x, const ir::Dims& axes, const Site& site);
Value swap_dims(const Value& x, std::int64_t a, std::int64_t b, const Site& site);
Value expand(const Value& x, const ir::Shape& shape, const Site& site);  // -1: kept
Value flatten(const Value& x, std::int64_t start, std::int64_t end, const Site& site);
Value squeeze(const Value& x, const ir::Dims& axes, const Site& site);
Value unsqueeze(const Value& x, const ir::Dims& axes, const Site& site);  // positions in the result
// A half-open range; negative numbers count from the end; without `end` it extends to the end of the dim. A negative
// step takes the elements of the same range from the last to the first.
struct Range {
  std::int64_t start = 0;
  std::optional<std::int64_t> end;
  std::int64_t step = 1;
};
Value slice(const Value& x, std::span<const Range> ranges, const Site& site);  // dims not named are kept whole
Value slice_assign(const Value& x, std::span<const Range> ranges, const Value& values, const Site& site);
Value narrow(const Value& x, std::int64_t axis, std::int64_t start, std::int64_t length, const Site& site);
Value flip(const Value& x, std::span<const std::int64_t> axes, const Site& site);
// The same value, which a router splits over its workers along `axis`, the axis of a batch's items.
Value batched(const Value& x, std::int64_t axis, const Site& site);
// The same value, which a router splits along `axis` over its workers along a mesh axis. `op`: for errors.
Value placed(const Value& x, std::int64_t axis, ir::MeshAxis mesh, const char* op, const Site& site);
Value concat(std::span<const Value> parts, std::int64_t axis, const Site& site);
Value stack(std::span<const Value> parts, std::int64_t axis, const Site& site);
Value repeat(const Value& x, const ir::Dims& times, const Site& site);
Value pad(const Value& x, std::span<const std::pair<std::int64_t, std::int64_t>> pads, Scalar value,
          const Site& site);  // of the last dims

// --- reductions (reduce.cc); axes keep size 1; sums and products of bools and integers below 64 bits are i64 ---------
Value reduce(ir::ReduceFn fn, const Value& x, const ir::Dims& axes, const Site& site);
Value reduce_all(ir::ReduceFn fn, const Value& x, const Site& site);  // -> [1]
Value mean(const Value& x, const ir::Dims& axes, const Site& site);
Value mean_all(const Value& x, const Site& site);
Value var(const Value& x, const ir::Dims& axes, std::int64_t correction, const Site& site);
Value arg_reduce(ir::ArgFn fn, const Value& x, std::int64_t axis, const Site& site);
Value scan(ir::ReduceFn fn, const Value& x, std::int64_t axis, const Site& site);
struct Indexed {  // elements and their positions in the operand
  Value values, indices;
};
Indexed sort(const Value& x, std::int64_t axis, bool descending, const Site& site);
Indexed top_k(const Value& x, std::int64_t axis, std::int64_t k, bool largest, const Site& site);  // sorted
Value sum_to(const Value& x, const ir::Shape& shape, const Site& site);  // undoes a broadcast by summing

// --- indexing (index.cc) ---------------------------------------------------------------------------------------------
Value gather(const Value& x, std::int64_t axis, const Value& index, const Site& site);
Value scatter(const Value& x, std::int64_t axis, const Value& index, const Value& values, ir::ScatterFn fn,
              const Site& site);
Value select_rows(const Value& x, std::int64_t axis, const Value& index, const Site& site);  // index [n]
Value select_assign(const Value& x, std::int64_t axis, const Value& index, const Value& values, ir::ScatterFn fn,
                    const Site& site);
// Returns `ids`, and checks that each is among `classes` 0, 1, ... [n]; an id that is not is an error, which the next
// read of the result reports.
Value known_classes(const Value& ids, const Value& classes, const Site& site);
Value one_hot(const Value& x, std::int64_t classes, const Site& site);

// --- linear algebra and windows (linalg.cc, window.cc) ---------------------------------------------------------------
Value matmul(const Value& a, const Value& b, const Site& site);  // batch dims broadcast
enum class LinearLayout { row, col };  // of a weight: [d_input, d_output], or [d_output, d_input]
Value linear(const Value& x, const Value& weight, const Value* bias, const Site& site,
             LinearLayout layout = LinearLayout::row);  // x @ weight + bias
// softmax(scale q k^T) v over the keys (Vaswani et al., arXiv:1706.03762). q: [..., n, d], k: [..., m, d], v: [..., m,
// e]; batch dims broadcast, also those of mask and bias. The scores are changed in this order: softcap (s becomes
// softcap tanh(s / softcap)); `mask` (bool [..., n, m], true: hidden) and is_causal (hides key j > query i + m - n);
// `bias` ([..., n, m], added). A query whose keys are all hidden gives 0.
struct AttentionOptions {
  std::optional<double> scale;  // none: 1 / sqrt(d)
  std::optional<double> softcap;
  bool is_causal = false;
};
Value attention(const Value& q, const Value& k, const Value& v, const Value* mask, const Value* bias,
                const AttentionOptions& options, const Site& site);
// The same, computed with a matrix of all scores. attention() calls it if there is a softcap.
Value attention_fallback(const Value& q, const Value& k, const Value& v, const Value* mask, const Value* bias,
                         const AttentionOptions& options, const Site& site);
// softmax over the last dim; rows that are all -infinity give 0.
Value softmax_or_zero(const Value& scores, const Site& site);
// `scores` [..., n, m] with -infinity where `mask` or is_causal hides a key from a query.
Value mask_scores(const Value& scores, const Value* mask, bool is_causal, const Site& site);
Value conv(const Value& x, const Value& weight, const Value* bias, const ir::Conv& options, const Site& site);
Value conv_transpose(const Value& x, const Value& weight, const Value* bias, const ir::Conv& options,
                     const ir::Dims& padding_out, const Site& site);
Value max_pool(const Value& x, const ir::MaxPool& options, const Site& site);
Indexed max_pool_with_indices(const Value& x, const ir::MaxPool& options, const Site& site);
// The gradient of the pool's input `x`: scatters the gradient of its results to the positions `indices`.
Value max_pool_grad(const Value& x, const Value& indices, const Value& grad, const Site& site);
Value avg_pool(const Value& x, const ir::AvgPool& options, const Site& site);
Value adaptive_avg_pool(const Value& x, const ir::Dims& output_size, const Site& site);
Indexed adaptive_max_pool(const Value& x, const ir::Dims& output_size, const Site& site);

// --- activations and losses (activation.cc) --------------------------------------------------------------------------
Value softmax(const Value& x, std::int64_t axis, const Site& site);
Value log_softmax(const Value& x, std::int64_t axis, const Site& site);
Value gelu(const Value& x, const Site& site);  // x (1 + erf(x / sqrt 2)) / 2
Value silu(const Value& x, const Site& site);
Value softplus(const Value& x, double beta, const Site& site);
Value leaky_relu(const Value& x, double slope, const Site& site);

}  // namespace burn::client
