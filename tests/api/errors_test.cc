// Errors name the function that was called: every method and function is given wrong arguments, and the message must
// begin with its name and end with the line of the call. A test checks that all of tests/api/names.txt is covered.
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

// Tensors that hold nothing: each function that looks at one must throw an error that begins with its own name.
struct EmptyTensors {
  Tensor<1> v;
  Tensor<2> x, y;
  Tensor<3> x3;
  Tensor<4> x4;
  Tensor<5> x5;
  Tensor<1, Int> vi;
  Tensor<2, Int> i;
  Tensor<2, Bool> b;
  Gradients gradients;
};
// Tensors whose shapes or dtypes do not fit each other.
struct MismatchedTensors {
  Tensor<1> v = Tensor<1>::ones({3}, "cpu");
  Tensor<2> x = Tensor<2>::ones({2, 3}, "cpu"), y = Tensor<2>::ones({4, 5}, "cpu");
  Tensor<2> f16 = Tensor<2>::ones({2, 3}, {"cpu", DType::f16});
  Tensor<2> leaf = Tensor<2>::ones({2, 3}, Device{"cpu"}.autodiff()).require_grad();
  Tensor<3> x3 = Tensor<3>::ones({2, 3, 4}, "cpu");
  Tensor<4> x4 = Tensor<4>::ones({1, 3, 4, 4}, "cpu"), w4 = Tensor<4>::ones({2, 2, 3, 3}, "cpu");
  Tensor<5> x5 = Tensor<5>::ones({1, 3, 4, 4, 4}, "cpu");
  Tensor<1, Int> vi = Tensor<1, Int>::zeros({3}, "cpu");
  Tensor<2, Int> i = Tensor<2, Int>::zeros({2, 3}, "cpu"), j = Tensor<2, Int>::zeros({4, 5}, "cpu");
  Tensor<2, Bool> b = Tensor<2, Bool>::ones({2, 3}, "cpu"), c = Tensor<2, Bool>::ones({4, 5}, "cpu");
};

template <typename Tensors>
struct Case {
  int line;
  std::string name;
  std::function<void(const Tensors&)> call;
};

#define CALL(Tensors, name, ...)                                                    \
  Case<Tensors> {                                                                   \
    __LINE__, #name, []([[maybe_unused]] const Tensors& t) { (void)(__VA_ARGS__); } \
  }
#define NOTHING(name, ...) CALL(EmptyTensors, name, __VA_ARGS__)
#define WRONG(name, ...) CALL(MismatchedTensors, name, __VA_ARGS__)
// Calls of a method `name` on the tensor t.of.
#define EMPTY(of, name, ...) NOTHING(name, t.of.name(__VA_ARGS__))
#define BAD(of, name, ...) WRONG(name, t.of.name(__VA_ARGS__))

// clang-format off
const std::vector<Case<EmptyTensors>> kMethodsOfEmpty = {
    NOTHING(empty_like, Tensor<2>::empty_like(t.x)), NOTHING(zeros_like, Tensor<2>::zeros_like(t.x)),
    NOTHING(ones_like, Tensor<2>::ones_like(t.x)), NOTHING(full_like, Tensor<2>::full_like(t.x, 1)),
    EMPTY(x, random_like, Distribution::normal(0, 1)), EMPTY(vi, one_hot, 3), EMPTY(vi, one_hot_fill, 3, 1, 0, 0),
    EMPTY(x, dtype), EMPTY(x, dims), EMPTY(x, shape), EMPTY(x, device), EMPTY(x, to_device, "cpu"), EMPTY(x, num_elements),
    EMPTY(x, dim, 0),
    // shape
    EMPTY(x, reshape<1>, {-1}), EMPTY(x, transpose), EMPTY(x, t), EMPTY(x, swap_dims, 0, 1), EMPTY(x, permute, {1, 0}),
    EMPTY(x, movedim, 0, 1), EMPTY(x, flip, {0}), EMPTY(x, roll, {1}, {0}), EMPTY(x, roll_dim, 1, 0),
    EMPTY(x, flatten<1>, 0, 1), EMPTY(x, squeeze), EMPTY(x, squeeze_dim, 0), EMPTY(x, squeeze_dims<1>, {0}),
    EMPTY(x, unsqueeze<3>), EMPTY(x, unsqueeze_dim, 0), EMPTY(x, unsqueeze_dims<3>, {0}), EMPTY(x, expand<2>, {2, 3}),
    EMPTY(x, repeat, {1, 2}), EMPTY(x, repeat_dim, 0, 2), EMPTY(x, batched, 0), EMPTY(x, unfold, 0, 1, 1), EMPTY(x, pad, {{1, 1}}, 0),
    EMPTY(x, pad, {{1, 1}}, PadMode::reflect()), EMPTY(x, pad, {{1, 1}}, PadMode::edge()), EMPTY(x, triu, 0), EMPTY(x, tril, 0),
    NOTHING(cat, Tensor<2>::cat({t.x, t.x}, 0)), NOTHING(stack, Tensor<2>::stack({t.x, t.x}, 0)), EMPTY(x, narrow, 0, 0, 1),
    EMPTY(x, chunk, 2, 0), EMPTY(x, split, 2, 0), EMPTY(x, split_with_sizes, {1, 1}, 0), EMPTY(x, iter_dim, 0),
    // places
    EMPTY(x, slice, {s(0, 1)}), EMPTY(x, slice_dim, 0, s(0, 1)), EMPTY(x, slice_assign, {s(0, 1)}, t.x), EMPTY(x, slice_fill, {s(0, 1)}, 1),
    EMPTY(x, select_dim, 0, 0), NOTHING(select_dim, t.x[0]), EMPTY(x, select, 0, t.vi), EMPTY(x, select_assign, 0, t.vi, t.x),
    EMPTY(x, gather, 0, t.i), EMPTY(x, scatter, 0, t.i, t.x), EMPTY(x, take, 0, t.i), EMPTY(x, gather_nd<1>, t.i),
    EMPTY(x, scatter_nd, t.i, t.v), EMPTY(x, mask_where, t.b, t.x), EMPTY(x, mask_fill, t.b, 0), EMPTY(x, mask_select, t.b),
    EMPTY(x, mask_select_async, t.b), EMPTY(b, nonzero), EMPTY(b, nonzero_async), EMPTY(b, argwhere), EMPTY(b, argwhere_async),
    // element by element
    EMPTY(x, add, t.x), EMPTY(x, sub, t.x), EMPTY(x, mul, t.x), EMPTY(x, div, t.x), EMPTY(x, remainder, t.x), EMPTY(x, fmod, t.x),
    EMPTY(x, add, 1), EMPTY(x, sub, 1), EMPTY(x, mul, 1), EMPTY(x, div, 1), EMPTY(x, remainder, 1), EMPTY(x, fmod, 1),
    NOTHING(add, t.x + t.x), NOTHING(sub, t.x - 1), NOTHING(mul, 2 * t.x), NOTHING(div, t.x / t.x), NOTHING(remainder, t.x % 2), NOTHING(neg, -t.x),
    EMPTY(x, powf, t.x), EMPTY(x, powf, 2), EMPTY(x, powi, t.x), EMPTY(x, powi, 2), EMPTY(x, neg), EMPTY(x, abs), EMPTY(x, sign),
    EMPTY(x, square), EMPTY(x, sqrt), EMPTY(x, recip), EMPTY(x, exp), EMPTY(x, log), EMPTY(x, log1p), EMPTY(x, erf), EMPTY(x, hypot, t.x),
    EMPTY(x, sin), EMPTY(x, cos), EMPTY(x, tan), EMPTY(x, sinh), EMPTY(x, cosh), EMPTY(x, tanh), EMPTY(x, asin), EMPTY(x, acos), EMPTY(x, atan),
    EMPTY(x, asinh), EMPTY(x, acosh), EMPTY(x, atanh), EMPTY(x, atan2, t.x), EMPTY(x, deg2rad), EMPTY(x, rad2deg), EMPTY(x, round),
    EMPTY(x, floor), EMPTY(x, ceil), EMPTY(x, trunc), EMPTY(x, clamp, 0, 1), EMPTY(x, clamp_min, 0), EMPTY(x, clamp_max, 0),
    EMPTY(x, clamp_min, t.x), EMPTY(x, clamp_max, t.x), EMPTY(x, max_pair, t.x), EMPTY(x, min_pair, t.x), EMPTY(x, cross, t.x, 0),
    EMPTY(v, dot, t.v), EMPTY(x, matmul, t.x), NOTHING(einsum, einsum<2>("ij,jk->ik", t.x, t.x)), EMPTY(x4, grid_sample_2d, t.x4, {}),
    EMPTY(i, bitwise_and, t.i), EMPTY(i, bitwise_or, t.i), EMPTY(i, bitwise_xor, t.i), EMPTY(i, bitwise_not), EMPTY(i, bitwise_left_shift, 1),
    EMPTY(i, bitwise_right_shift, 1), EMPTY(x, equal, t.x), EMPTY(x, not_equal, t.x), EMPTY(x, greater, t.x), EMPTY(x, greater_equal, t.x),
    EMPTY(x, lower, t.x), EMPTY(x, lower_equal, t.x), EMPTY(x, equal, 1), EMPTY(x, lower, 1), NOTHING(greater, t.x > t.x), NOTHING(lower_equal, t.x <= 1),
    EMPTY(x, is_close, t.x), EMPTY(x, all_close, t.x), EMPTY(x, is_nan), EMPTY(x, is_inf), EMPTY(x, is_finite), EMPTY(x, contains_nan),
    EMPTY(x, any), EMPTY(x, any_dim, 0), EMPTY(x, all), EMPTY(x, all_dim, 0), EMPTY(b, bool_not), EMPTY(b, bool_and, t.b), EMPTY(b, bool_or, t.b),
    EMPTY(b, bool_xor, t.b), EMPTY(x, to_int), EMPTY(x, to_float), EMPTY(x, to_bool), EMPTY(x, cast, DType::f16),
    // along axes
    EMPTY(x, sum), EMPTY(x, sum_dim, 0), EMPTY(x, sum_dims, {0}), EMPTY(x, sum_dims_squeeze<1>, {0}), EMPTY(x, mean), EMPTY(x, mean_dim, 0),
    EMPTY(x, mean_dims, {0}), EMPTY(x, prod), EMPTY(x, prod_dim, 0), EMPTY(x, prod_dims, {0}), EMPTY(x, max), EMPTY(x, max_dim, 0),
    EMPTY(x, max_dims, {0}), EMPTY(x, max_dim_with_indices, 0), EMPTY(x, max_abs), EMPTY(x, max_abs_dim, 0), EMPTY(x, max_abs_dims, {0}),
    EMPTY(x, min), EMPTY(x, min_dim, 0), EMPTY(x, min_dims, {0}), EMPTY(x, min_dim_with_indices, 0), EMPTY(x, argmax, 0), EMPTY(x, argmin, 0),
    EMPTY(x, var, 0), EMPTY(x, var_bias, 0), EMPTY(x, var_mean, 0), EMPTY(x, var_mean_bias, 0), EMPTY(x, median, 0), EMPTY(x, median_with_indices, 0),
    EMPTY(x, cov, 0), EMPTY(x, logsumexp, 0), EMPTY(x, logcumsumexp, 0), EMPTY(x, cumsum, 0), EMPTY(x, cumprod, 0), EMPTY(x, cummax, 0),
    EMPTY(x, cummin, 0), EMPTY(x, sort, 0), EMPTY(x, sort_descending, 0), EMPTY(x, sort_with_indices, 0), EMPTY(x, sort_descending_with_indices, 0),
    EMPTY(x, argsort, 0), EMPTY(x, argsort_descending, 0), EMPTY(x, topk, 1, 0), EMPTY(x, topk_with_indices, 1, 0), EMPTY(x, argtopk, 1, 0),
    EMPTY(x, categorical, 1), EMPTY(x, multinomial, 1), EMPTY(x, multinomial, 1, true),
    // gradients
    EMPTY(x, require_grad), EMPTY(x, set_require_grad, true), EMPTY(x, set_require_grad, false), EMPTY(x, detach), EMPTY(x, no_grad), EMPTY(x, inner),
    NOTHING(from_inner, Tensor<2>::from_inner(t.x)), EMPTY(x, backward), EMPTY(x, grad, t.gradients),
    NOTHING(grad_remove, t.x.grad_remove(const_cast<Gradients&>(t.gradients))),
    NOTHING(grad_replace, t.x.grad_replace(const_cast<Gradients&>(t.gradients), t.x)),
    EMPTY(x, with_gradient_checkpointing_strategy, GradientCheckpointingStrategy::balanced),
    // functions of several
    NOTHING(check_closeness, check_closeness(t.x, t.x)), NOTHING(meshgrid, grid::meshgrid(std::array{t.v, t.v})),
    NOTHING(meshgrid_stack, grid::meshgrid_stack(std::array{t.v, t.v})), NOTHING(affine_grid_2d, grid::affine_grid_2d(t.x3, {1, 1, 2, 2})),
};

#define ACTIVATION(name, ...) NOTHING(name, activation::name(t.x __VA_OPT__(, ) __VA_ARGS__))
#define LINALG(name, ...) NOTHING(name, linalg::name(t.x __VA_OPT__(, ) __VA_ARGS__))
#define MODULE(name, ...) NOTHING(name, module::name(__VA_ARGS__))
const std::vector<Case<EmptyTensors>> kFunctionsOfEmpty = {
    ACTIVATION(relu), ACTIVATION(sigmoid), ACTIVATION(tanh), ACTIVATION(softmax, 0), ACTIVATION(log_softmax, 0), ACTIVATION(softmin, 0),
    ACTIVATION(quiet_softmax, 0), ACTIVATION(glu, 0), ACTIVATION(gelu), ACTIVATION(gelu_approximate), ACTIVATION(silu), ACTIVATION(mish),
    ACTIVATION(relu6), ACTIVATION(hard_swish), ACTIVATION(log_sigmoid), ACTIVATION(softsign), ACTIVATION(tanhshrink), ACTIVATION(selu),
    ACTIVATION(softplus), ACTIVATION(leaky_relu), ACTIVATION(elu), ACTIVATION(celu), ACTIVATION(thresholded_relu), ACTIVATION(hardtanh),
    ACTIVATION(hard_sigmoid), ACTIVATION(threshold, 0, 0), ACTIVATION(shrink), ACTIVATION(hard_shrink), ACTIVATION(soft_shrink),
    ACTIVATION(prelu, t.v),
    LINALG(vector_norm, 2, 0), LINALG(lp_norm, 3, 0), LINALG(l0_norm, 0), LINALG(l1_norm, 0), LINALG(l2_norm, 0), LINALG(max_abs_norm, 0),
    LINALG(min_abs_norm, 0), LINALG(vector_normalize, 2, 0), LINALG(cosine_similarity, t.x, 0), LINALG(diag), LINALG(trace), LINALG(outer, t.x),
    LINALG(outer_dim, t.x, 0), LINALG(matvec, t.v), LINALG(lu), LINALG(lu_decomposition), LINALG(qr), LINALG(cholesky), LINALG(svd),
    LINALG(svdvals), LINALG(eigh), LINALG(solve, t.x), LINALG(solve_triangular, t.x, true), LINALG(inverse), LINALG(det),
    LINALG(slogdet), LINALG(pinv), LINALG(lstsq, t.x), LINALG(matrix_power, 2), LINALG(matrix_exp),
    NOTHING(rfft, signal::rfft(t.x, 0)), NOTHING(irfft, signal::irfft(t.x, t.x, 0)), NOTHING(cfft, signal::cfft(t.x, t.x, 0)),
    NOTHING(stft, signal::stft(t.x, std::nullopt, {.n_fft = 4, .hop_length = 2})),
    NOTHING(istft, signal::istft(t.x4, std::nullopt, std::nullopt, {.n_fft = 4, .hop_length = 2})),
    MODULE(conv1d, t.x3, t.x3), MODULE(conv2d, t.x4, t.x4), MODULE(conv3d, t.x5, t.x5), MODULE(conv2d_weight_backward, t.x4, t.x4, t.x4),
    MODULE(conv_transpose1d, t.x3, t.x3), MODULE(conv_transpose2d, t.x4, t.x4), MODULE(conv_transpose3d, t.x5, t.x5),
    MODULE(deform_conv2d, t.x4, t.x4, t.x4), MODULE(max_pool1d, t.x3, 2, 2), MODULE(max_pool2d, t.x4, {2, 2}, {2, 2}),
    MODULE(max_pool3d, t.x5, {2, 2, 2}, {2, 2, 2}), MODULE(max_pool1d_with_indices, t.x3, 2, 2), MODULE(max_pool2d_with_indices, t.x4, {2, 2}, {2, 2}),
    MODULE(max_pool3d_with_indices, t.x5, {2, 2, 2}, {2, 2, 2}), MODULE(avg_pool1d, t.x3, 2, 2), MODULE(avg_pool2d, t.x4, {2, 2}, {2, 2}),
    MODULE(avg_pool3d, t.x5, {2, 2, 2}, {2, 2, 2}), MODULE(avg_pool2d_backward, t.x4, t.x4, {2, 2}, {2, 2}),
    MODULE(max_pool2d_with_indices_backward, t.x4, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false, t.x4, {}), MODULE(adaptive_avg_pool1d, t.x3, 2),
    MODULE(adaptive_avg_pool2d, t.x4, {2, 2}), MODULE(adaptive_avg_pool3d, t.x5, {2, 2, 2}), MODULE(adaptive_max_pool1d, t.x3, 2),
    MODULE(adaptive_max_pool2d, t.x4, {2, 2}), MODULE(adaptive_max_pool3d, t.x5, {2, 2, 2}), MODULE(adaptive_max_pool1d_with_indices, t.x3, 2),
    MODULE(adaptive_max_pool2d_with_indices, t.x4, {2, 2}), MODULE(adaptive_max_pool3d_with_indices, t.x5, {2, 2, 2}),
    MODULE(interpolate, t.x4, {2, 2}), MODULE(interpolate1d, t.x3, 2), MODULE(unfold4d, t.x4, {2, 2}), MODULE(fold4d, t.x3, {4, 4}, {2, 2}),
    MODULE(batch_norm, t.x, t.v, t.v, t.v, t.v), MODULE(layer_norm, t.x, t.v), MODULE(embedding, t.x, t.i), MODULE(ctc_loss, t.x3, t.i, t.vi, t.vi),
    MODULE(attention, t.x, t.x, t.x), MODULE(attention_fallback, t.x, t.x, t.x), MODULE(linear, t.x, t.x),
};

const std::vector<Case<MismatchedTensors>> kMismatched = {
    WRONG(empty, Tensor<1>::empty({-1}, "cpu")), WRONG(zeros, Tensor<1>::zeros({-1}, "cpu")), WRONG(ones, Tensor<1>::ones({2}, {"cpu", DType::i32})),
    WRONG(full, Tensor<1>::full({-1}, 1, "cpu")), WRONG(from_data, Tensor<2>::from_data({{1, 2}, {3}}, "cpu")),
    WRONG(from_data, Tensor<1>::from_data(TensorData::ones({2, 2}), "cpu")), WRONG(from_floats, Tensor<2>::from_floats({{1, 2}, {3}}, "cpu")),
    WRONG(from_ints, Tensor<2, Int>::from_ints({{1, 2}, {3}}, "cpu")), WRONG(from_bool, Tensor<1, Bool>::from_bool(TensorData::ones({2, 2}), "cpu")),
    WRONG(random, Tensor<1>::random({2}, Distribution::normal(0, -1), "cpu")), WRONG(arange, Tensor<1, Int>::arange(0, 3, {"cpu", DType::bool_})),
    WRONG(arange_step, Tensor<1, Int>::arange_step(0, 3, 0, "cpu")), WRONG(eye, Tensor<2>::eye(-1, "cpu")),
    WRONG(cartesian_grid, Tensor<1, Int>::cartesian_grid<3>({2, 3}, {"cpu", DType::f32})), WRONG(cartesian_grid, cartesian_grid<2>({-2, 3}, "cpu")),
    WRONG(tril_mask, Tensor<2, Bool>::tril_mask({-1, 3}, 0, "cpu")), WRONG(triu_mask, Tensor<2, Bool>::triu_mask({-1, 3}, 0, "cpu")),
    WRONG(diag_mask, Tensor<2, Bool>::diag_mask({-1, 3}, 0, "cpu")), BAD(vi, one_hot, -1), BAD(vi, one_hot_fill, 3, 1, 0, 7),
    WRONG(random_like, t.x.random_like(Distribution::bernoulli(2))), WRONG(random, Tensor<1>::random({2}, Distribution::bernoulli(NAN), "cpu")),
    WRONG(arange, Tensor<1, Int>::arange(INT64_MIN, INT64_MAX, "cpu")),
    // shape
    BAD(x, reshape<1>, {7}), BAD(x, swap_dims, 0, 9), BAD(x, permute, {1, 1}), BAD(x, movedim, 0, 9), BAD(x, movedim, {0, 1}, {0}), BAD(x, flip, {9}),
    BAD(x, roll, {1}, {0, 1}), BAD(x, roll_dim, 1, 9), BAD(x, flatten<1>, 1, 0), BAD(x, squeeze<1>), BAD(x, squeeze_dim, 0), BAD(x, squeeze_dims<1>, {9}),
    BAD(x, unsqueeze_dim, 9), BAD(x, unsqueeze_dims<3>, {9}), BAD(x, unsqueeze_dims<4>, {0}), BAD(x, expand<2>, {3, 3}), BAD(x, repeat, {-1, 2}), BAD(x, repeat_dim, 9, 2),
    BAD(x, unfold, 0, 1, 0), BAD(x, pad, {{9, 9}}, PadMode::reflect()), BAD(x, pad, {{1, 1}, {1, 1}, {1, 1}}, 0), BAD(x, pad, {{-9, 0}}, 0),
    WRONG(cat, Tensor<2>::cat({t.x, t.y}, 0)), WRONG(cat, Tensor<2>::cat({}, 0)), WRONG(stack, Tensor<2>::stack({t.x, t.y}, 0)), WRONG(stack, Tensor<2>::stack({}, 0)),
    BAD(x, narrow, 0, 1, 9), BAD(x, chunk, 0, 0), BAD(x, chunk, 2, 9), BAD(x, split, 0, 0), BAD(x, split_with_sizes, {1, 9}, 0), BAD(x, iter_dim, 9),
    // places
    BAD(x, slice, {s(0, 9)}), BAD(x, slice_dim, 9, s(0, 1)), BAD(x, slice_dim, 0, s(0, 9)), BAD(x, slice_assign, {s(0, 1)}, t.y), BAD(x, slice_fill, {s(0, 9)}, 1),
    BAD(x, select_dim, 0, 9), WRONG(select_dim, t.x[9]), BAD(x, select, 9, t.vi), BAD(x, select_assign, 0, t.vi, t.y), BAD(x, gather, 0, t.j),
    BAD(x, scatter, 0, t.i, t.y), BAD(x, take, 9, t.i), BAD(x, gather_nd<1>, t.i), BAD(x, scatter_nd, t.i, t.v),
    BAD(x, mask_where, t.c, t.x), BAD(x, mask_where, t.b, t.y), BAD(x, mask_fill, t.c, 0), BAD(x, mask_select, t.c), BAD(x, mask_select_async, t.c),
    // element by element
    BAD(x, add, t.y), BAD(x, sub, t.y), BAD(x, mul, t.y), BAD(x, div, t.y), BAD(x, remainder, t.y), BAD(x, fmod, t.y), BAD(x, powf, t.y), BAD(x, powi, t.y), BAD(x, hypot, t.y),
    WRONG(add, t.x + t.y), WRONG(sub, t.x - t.y), WRONG(mul, t.x * t.y), WRONG(div, t.x / t.y), WRONG(remainder, t.x % t.y), WRONG(greater, t.x > t.y),
    WRONG(greater_equal, t.x >= t.y), WRONG(lower, t.x < t.y), WRONG(lower_equal, t.x <= t.y), WRONG(bool_and, t.b & t.c), WRONG(bool_or, t.b | t.c), WRONG(bool_xor, t.b ^ t.c),
    BAD(x, atan2, t.y), BAD(x, clamp_min, t.y), BAD(x, clamp_max, t.y), BAD(x, clamp_min, t.f16), BAD(x, max_pair, t.y), BAD(x, min_pair, t.y), BAD(x, cross, t.x, 0), BAD(x, cross, t.x, 9),
    BAD(i, add, 0.5), BAD(i, clamp, 0.5, NAN), BAD(i, clamp_min, NAN), BAD(v, dot, Tensor<1>::ones({9}, "cpu")), BAD(x, matmul, t.y),
    WRONG(einsum, einsum<2>("ij,jk->ik", t.x, t.y)), WRONG(einsum, einsum<2>("ij->", t.x)), BAD(x4, grid_sample_2d, t.x4, {}),
    BAD(i, bitwise_and, t.j), BAD(i, bitwise_or, t.j), BAD(i, bitwise_xor, t.j), BAD(i, bitwise_left_shift, t.j), BAD(i, bitwise_right_shift, t.j), BAD(i, bitwise_and, 0.5),
    BAD(x, equal, t.y), BAD(x, not_equal, t.y), BAD(x, greater, t.y), BAD(x, greater_equal, t.y), BAD(x, lower, t.y), BAD(x, lower_equal, t.y),
    BAD(x, is_close, t.y), BAD(x, all_close, t.y), BAD(x, any_dim, 9), BAD(x, all_dim, 9), BAD(b, bool_and, t.c), BAD(b, bool_or, t.c), BAD(b, bool_xor, t.c),
    BAD(x, to_int, DType::f32), BAD(x, to_float, DType::i32), BAD(x, cast, DType::i32),
    // along axes
    BAD(x, sum_dim, 9), BAD(x, sum_dims, {9}), BAD(x, sum_dims_squeeze<1>, {9}), BAD(x, sum_dims_squeeze<1>, {0, 1}), BAD(x, mean_dim, 9), BAD(x, mean_dims, {9}), BAD(x, prod_dim, 9), BAD(x, prod_dims, {9}),
    BAD(x, max_dim, 9), BAD(x, max_dims, {9}), BAD(x, max_dim_with_indices, 9), BAD(x, max_abs_dim, 9), BAD(x, max_abs_dims, {9}), BAD(x, min_dim, 9), BAD(x, min_dims, {9}),
    BAD(x, min_dim_with_indices, 9), BAD(x, argmax, 9), BAD(x, argmin, 9), BAD(x, var, 9), BAD(x, var_bias, 9), BAD(x, var_mean, 9), BAD(x, var_mean_bias, 9),
    BAD(x, median, 9), BAD(x, median_with_indices, 9), BAD(x, cov, 9), BAD(x, logsumexp, 9), BAD(x, logcumsumexp, 9), BAD(x, cumsum, 9), BAD(x, cumprod, 9), BAD(x, cummax, 9), BAD(x, cummin, 9),
    BAD(x, sort, 9), BAD(x, sort_descending, 9), BAD(x, sort_with_indices, 9), BAD(x, sort_descending_with_indices, 9), BAD(x, argsort, 9), BAD(x, argsort_descending, 9),
    BAD(x, topk, 9, 0), BAD(x, topk_with_indices, 9, 0), BAD(x, argtopk, 9, 0), BAD(x, categorical, -1), BAD(x, multinomial, 9), BAD(x, multinomial, -1, true),
    // gradients, reads and functions of several
    BAD(leaf, backward), WRONG(backward, t.leaf.sum().backward(Tensor<1>::ones({2}, "cpu"))), WRONG(backward, t.x.sum().backward()), BAD(leaf, to_device, "null"),
    BAD(x, with_gradient_checkpointing_strategy, GradientCheckpointingStrategy::balanced),
    BAD(x, into_scalar), WRONG(check_closeness, check_closeness(t.x, t.y)), WRONG(affine_grid_2d, grid::affine_grid_2d(t.x3, {1, 1, 2, 2})),
    // modules' functions
    WRONG(softmax, activation::softmax(t.x, 9)), WRONG(softmin, activation::softmin(t.x, 9)), WRONG(quiet_softmax, activation::quiet_softmax(t.x, 9)), WRONG(log_softmax, activation::log_softmax(t.x, 9)),
    WRONG(glu, activation::glu(t.x, 1)), WRONG(prelu, activation::prelu(t.x, Tensor<1>::ones({9}, "cpu"))),
    WRONG(vector_norm, linalg::vector_norm(t.x, 2, 9)), WRONG(lp_norm, linalg::lp_norm(t.x, 2, 9)), WRONG(l0_norm, linalg::l0_norm(t.x, 9)), WRONG(l1_norm, linalg::l1_norm(t.x, 9)),
    WRONG(l2_norm, linalg::l2_norm(t.x, 9)), WRONG(max_abs_norm, linalg::max_abs_norm(t.x, 9)), WRONG(min_abs_norm, linalg::min_abs_norm(t.x, 9)),
    WRONG(vector_normalize, linalg::vector_normalize(t.x, 2, 9)), WRONG(cosine_similarity, linalg::cosine_similarity(t.x, t.y, 0)), WRONG(outer_dim, linalg::outer_dim(t.x, t.x, 9)),
    WRONG(outer, linalg::outer(t.x, t.y)), WRONG(matvec, linalg::matvec(t.y, t.v)), WRONG(cholesky, linalg::cholesky(t.x)), WRONG(inverse, linalg::inverse(t.x)), WRONG(det, linalg::det(t.x)),
    WRONG(eigh, linalg::eigh(t.x)), WRONG(solve, linalg::solve(t.x, t.x)), WRONG(solve_triangular, linalg::solve_triangular(t.x, t.x, true)),
    WRONG(slogdet, linalg::slogdet(t.x)), WRONG(lstsq, linalg::lstsq(t.x, t.x.t())), WRONG(matrix_power, linalg::matrix_power(t.x, 2)), WRONG(matrix_exp, linalg::matrix_exp(t.x)),
    WRONG(rfft, signal::rfft(t.x, 9)), WRONG(irfft, signal::irfft(t.x, t.y, 0)), WRONG(cfft, signal::cfft(t.x, t.y, 0)), WRONG(stft, signal::stft(t.x, std::nullopt, {.n_fft = 0, .hop_length = 2})),
    WRONG(istft, signal::istft(t.x4, std::nullopt, std::nullopt, {.n_fft = 4, .hop_length = 0})), WRONG(hann_window, signal::hann_window(-1, true, "cpu")),
    WRONG(conv1d, module::conv1d(t.x3, Tensor<3>::ones({2, 2, 4}, "cpu"))), WRONG(conv2d, module::conv2d(t.x4, t.w4)), WRONG(conv3d, module::conv3d(t.x5, Tensor<5>::ones({2, 2, 3, 3, 3}, "cpu"))),
    WRONG(conv_transpose2d, module::conv_transpose2d(t.x4, t.w4)), WRONG(deform_conv2d, module::deform_conv2d(t.x4, t.x4, t.w4)), WRONG(max_pool1d, module::max_pool1d(t.x3, 9, 1)),
    WRONG(max_pool2d, module::max_pool2d(t.x4, {9, 9}, {1, 1})), WRONG(max_pool2d_with_indices, module::max_pool2d_with_indices(t.x4, {9, 9}, {1, 1})), WRONG(max_pool3d, module::max_pool3d(t.x5, {9, 9, 9}, {1, 1, 1})),
    WRONG(avg_pool1d, module::avg_pool1d(t.x3, 9, 1)), WRONG(avg_pool2d, module::avg_pool2d(t.x4, {9, 9}, {1, 1})), WRONG(avg_pool3d, module::avg_pool3d(t.x5, {2, 2, 2}, {0, 1, 1})),
    WRONG(adaptive_avg_pool2d, module::adaptive_avg_pool2d(t.x4, {0, -1})), WRONG(adaptive_max_pool2d, module::adaptive_max_pool2d(t.x4, {0, -1})), WRONG(interpolate, module::interpolate(t.x4, {0, 2})),
    WRONG(unfold4d, module::unfold4d(t.x4, {9, 9})), WRONG(fold4d, module::fold4d(t.x3, {4, 4}, {2, 2})), WRONG(batch_norm, module::batch_norm(t.x, Tensor<1>::ones({9}, "cpu"), t.v, t.v, t.v)),
    WRONG(layer_norm, module::layer_norm(t.x, Tensor<1>::ones({9}, "cpu"))), WRONG(ctc_loss, module::ctc_loss(t.x3, t.i, t.vi, t.vi)), WRONG(attention, module::attention(t.x, t.y, t.y)),
    WRONG(attention_fallback, module::attention_fallback(t.x, t.y, t.y)), WRONG(linear, module::linear(t.x, t.y)),
};
// clang-format on

template <typename Tensors>
void expect_all(const std::vector<Case<Tensors>>& cases) {
  const Tensors tensors;
  for (const auto& each : cases) {
    const auto name = each.name.substr(0, each.name.find('<'));
    const auto message = test::error_of([&] { each.call(tensors); });
    EXPECT_TRUE(message.starts_with(name + ":") || message.starts_with(name + " "))
        << name << ", line " << each.line << ": " << message;
    EXPECT_TRUE(message.ends_with("errors_test.cc:" + std::to_string(each.line) + ")"))
        << name << ", line " << each.line << ": " << message;
  }
}

TEST(Errors, NameTheMethodThatWasCalledOnATensorThatHoldsNothing) { expect_all(kMethodsOfEmpty); }
TEST(Errors, NameTheFunctionThatWasGivenATensorThatHoldsNothing) { expect_all(kFunctionsOfEmpty); }
TEST(Errors, NameWhatWasCalledWithTensorsThatDoNotGoTogether) { expect_all(kMismatched); }

// Every method of the list that can fail when it is called has a case here.
TEST(Errors, AreProvokedInEveryNameOfTheApi) {
  // These do not look at a tensor, have their own tests (reads), or cannot fail.
  const std::set<std::string> elsewhere = {"rank",    "can_mut",           "extract",
                                           "inplace", "set_print_options", "is_require_grad",
                                           "execute", "try_execute",       "execute_async"};
  std::set<std::string> named;
  for (const auto* cases : {&kMethodsOfEmpty, &kFunctionsOfEmpty})
    for (const auto& each : *cases) named.insert(each.name.substr(0, each.name.find('<')));
  for (const auto& each : kMismatched) named.insert(each.name.substr(0, each.name.find('<')));
  std::ifstream lines("tests/api/names.txt");
  ASSERT_TRUE(lines);
  const std::regex call(R"(\| [^|]*?([a-z_0-9]+)(<[^()|:]*>)?\()");
  bool is_reading = false, is_beyond = false;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) {
      is_reading = line == "## Reading";
      is_beyond = line == "## Named dimensions" || line == "## TensorData" || line == "## Not here";
    }
    std::smatch match;
    if (line.empty() || line[0] == '#' || line[0] == '>' || is_reading || is_beyond) continue;
    if (!std::regex_search(line, match, call) || elsewhere.count(match[1]) != 0) continue;
    ++count;
    EXPECT_EQ(named.count(match[1]), 1u) << "no error of it is provoked: " << line;
  }
  EXPECT_GE(count, 200);
}

}  // namespace
}  // namespace burn
