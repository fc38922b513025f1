#include "backends/cuda/libraries/cudnn_attention.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace burn::backends::cuda {
namespace {

cudnnDataType_t type_of(ir::DType dtype) { return dtype == ir::DType::f16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16; }

// Exchanges rows and columns, in sizes or strides.
DnnDims exchanged(DnnDims dims) {
  std::swap(dims[2], dims[3]);
  return dims;
}

// The shapes of a problem's tensors.
struct Shapes {
  DnnDims q, k, v, y, row;
  explicit Shapes(const AttentionProblem& p)
      : q{p.batch, p.heads, p.n, p.d},
        k{p.batch, p.heads, p.m, p.d},
        v{p.batch, p.heads, p.m, p.e},
        y{p.batch, p.heads, p.n, p.e},
        row{p.batch, p.heads, p.n, 1} {}
};

std::size_t bytes_of(const DnnDims& sizes) {  // of f32
  return static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]) * sizeof(float);
}

// Sets the scores of keys after their query to -infinity. Engines recognise this pattern, and compute only visible
// scores.
DnnTensor without_later_keys(DnnGraph& graph, const AttentionProblem& p, const DnnTensor& scores) {
  const auto index = [&](std::int64_t axis) {
    return graph.pointwise(CUDNN_POINTWISE_GEN_INDEX, {scores}, CUDNN_DATA_INT32, CUDNN_DATA_FLOAT, axis);
  };
  auto last_seen = index(2);
  const auto key = index(3);
  if (p.n != p.m) {
    const auto shifted = [&](cudnnPointwiseMode_t mode, std::int64_t by) {
      const auto number = graph.number(static_cast<std::int32_t>(by));
      return graph.pointwise(mode, {last_seen, number}, CUDNN_DATA_INT32, CUDNN_DATA_INT32);
    };
    last_seen = shifted(CUDNN_POINTWISE_ADD, p.m);
    last_seen = shifted(CUDNN_POINTWISE_SUB, p.n);
  }
  const auto is_seen =
      graph.pointwise(CUDNN_POINTWISE_CMP_GE, {last_seen, key}, CUDNN_DATA_BOOLEAN, CUDNN_DATA_BOOLEAN);
  return graph.pointwise(CUDNN_POINTWISE_BINARY_SELECT,
                         {scores, graph.number(-std::numeric_limits<float>::infinity()), is_seen});
}

void write_forward(DnnGraph& graph, const AttentionProblem& p, AttentionForm form) {
  const Shapes shapes(p);
  const auto type = type_of(p.dtype);
  const bool is_unified = form == AttentionForm::unified;
  const auto q = graph.memory(type, shapes.q, p.q);
  const auto k = is_unified ? graph.memory(type, shapes.k, p.k)  // matmul requires [d, m]
                            : graph.memory(type, exchanged(shapes.k), exchanged(p.k));
  const auto v = graph.memory(type, shapes.v, p.v);
  const auto y = graph.memory(type, shapes.y, p.y);
  const auto statistics = graph.memory(CUDNN_DATA_FLOAT, shapes.row, row_major(shapes.row));
  const auto scale = graph.number(static_cast<float>(p.scale));
  if (is_unified) {
    graph.attention(q, k, v, scale, y, statistics);
    return;
  }
  auto scores = graph.pointwise(CUDNN_POINTWISE_MUL, {graph.matmul(q, k), scale});
  if (p.causal) scores = without_later_keys(graph, p, scores);
  const auto largest = graph.reduce(CUDNN_REDUCE_TENSOR_MAX, scores);
  const auto exps = graph.pointwise(CUDNN_POINTWISE_EXP, {graph.pointwise(CUDNN_POINTWISE_SUB, {scores, largest})});
  const auto sum = graph.reduce(CUDNN_REDUCE_TENSOR_ADD, exps);
  graph.pointwise(CUDNN_POINTWISE_ADD, {largest, graph.pointwise(CUDNN_POINTWISE_LOG, {sum})}, statistics);
  const auto probabilities = graph.pointwise(CUDNN_POINTWISE_DIV, {exps, sum}, type);
  graph.matmul(probabilities, v, y);
}

// With p = exp(scores - statistics) and s the rows' sums of g y: dv = p^T g, ds = scale p (g v^T - s), dq = ds k, dk =
// ds^T q. Engines compute block by block of keys. If ds k is written to dq directly, they keep ds in their workspace
// and multiply afterwards, which gives the same bits every time; if ds k is an f32 tensor in memory from which dq is
// converted, each block adds its part there, in any order. Returns the bytes of the tensors in the workspace.
std::vector<std::size_t> write_backward(DnnGraph& graph, const AttentionProblem& p) {
  const Shapes shapes(p);
  const auto type = type_of(p.dtype);
  const auto q = graph.memory(type, shapes.q, p.q);
  const auto k = graph.memory(type, exchanged(shapes.k), exchanged(p.k));
  const auto v = graph.memory(type, exchanged(shapes.v), exchanged(p.v));
  const auto y = graph.memory(type, shapes.y, p.y);
  const auto statistics = graph.memory(CUDNN_DATA_FLOAT, shapes.row, row_major(shapes.row));
  const auto g = graph.memory(type, shapes.y, p.g);
  const auto dq = graph.memory(type, shapes.q, p.dq);
  const auto dk = graph.memory(type, shapes.k, p.dk);
  const auto dv = graph.memory(type, shapes.v, p.dv);
  const auto sums = graph.memory(CUDNN_DATA_FLOAT, shapes.row, row_major(shapes.row));  // in the workspace
  const auto scale = graph.number(static_cast<float>(p.scale));

  const DnnDims products{p.heads * p.n * p.e, p.n * p.e, p.heads * p.e,
                         1};  // strides in the pattern that engines recognise
  const auto gy = graph.virtual_tensor(CUDNN_DATA_FLOAT, shapes.y, products);
  graph.pointwise(CUDNN_POINTWISE_MUL, {g, y}, gy);
  graph.pointwise(CUDNN_POINTWISE_MUL, {graph.reduce(CUDNN_REDUCE_TENSOR_ADD, gy), graph.number(1.0F)}, sums);

  auto scores = graph.pointwise(CUDNN_POINTWISE_MUL, {graph.matmul(q, k), scale});
  scores = graph.pointwise(CUDNN_POINTWISE_SUB, {scores, statistics});
  if (p.causal) scores = without_later_keys(graph, p, scores);
  const auto probabilities = graph.pointwise(CUDNN_POINTWISE_EXP, {scores});

  const auto transposed = [&](const DnnTensor& x) {
    const auto y_of = graph.virtual_tensor(type, exchanged(x.sizes), exchanged(x.strides));
    graph.reshape(x, y_of);
    return y_of;
  };
  graph.matmul(transposed(probabilities), g, dv);
  auto ds = graph.pointwise(CUDNN_POINTWISE_SUB, {graph.matmul(g, v), sums});
  ds = graph.pointwise(CUDNN_POINTWISE_MUL, {ds, probabilities});
  ds = graph.pointwise(CUDNN_POINTWISE_MUL, {ds, scale});
  graph.matmul(transposed(ds), q, dk);
  std::vector<std::size_t> inner{bytes_of(shapes.row)};
  if (p.any_order) {
    const auto sum = graph.memory(CUDNN_DATA_FLOAT, shapes.q, row_major(shapes.q));
    inner.push_back(bytes_of(shapes.q));
    graph.matmul(ds, transposed(k), sum);
    graph.pointwise(CUDNN_POINTWISE_IDENTITY, {sum}, dq);
  } else {
    graph.matmul(ds, transposed(k), dq);
  }
  return inner;
}

}  // namespace

void AttentionProblem::set_row_major() {
  const Shapes shapes(*this);
  q = row_major(shapes.q);
  k = row_major(shapes.k);
  v = row_major(shapes.v);
  y = row_major(shapes.y);
  if (!is_grad) return;
  g = y;
  dq = q;
  dk = k;
  dv = v;
}

std::string to_string(const AttentionProblem& p) {
  return fmt::format(
      "{}{}{} {} [{}, {}, n {}, m {}, d {}, e {}] scale {}, strides q {} k {} v {} y {} g {} dq {} dk {} dv {}",
      p.causal ? "causal " : "", p.any_order ? "any order " : "", p.is_grad ? "attention_grad" : "attention",
      ir::name(p.dtype), p.batch, p.heads, p.n, p.m, p.d, p.e, p.scale, p.q, p.k, p.v, p.y, p.g, p.dq, p.dk, p.dv);
}

Status check_attention(const AttentionProblem& p, int version, const std::string& architecture) {
  const auto no = [&](std::string_view why) {
    return unimplemented(fmt::format("cuDNN: {}: {}", p.is_grad ? "attention_grad" : "attention", why));
  };
  if (p.dtype != ir::DType::f16 && p.dtype != ir::DType::bf16) return no("takes f16 and bf16");
  // A plan is built for each length, which takes long; text generation has a new length at each step.
  constexpr std::int64_t kLeast = 64;
  if (p.n < kLeast || p.m < kLeast) return no("few queries or keys are left to products");
  constexpr int kWithWideHeads = 91300;
  const std::int64_t most = version < kWithWideHeads ? 128 : 256;  // if the architecture supports them
  constexpr std::int64_t kVector = 8;
  for (const auto columns : {p.d, p.e}) {
    if (columns < kVector || columns > most || columns % kVector != 0)
      return no(fmt::format("head dims are multiples of 8 up to {}", most));
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (p.batch < 1 || p.heads < 1) return no("there is nothing to attend");
  if (p.batch > 65535 || p.heads > 65535 || p.n > kMax / 256 || p.m > kMax / 256) return no("sizes are too large");
  if (p.causal && p.n > p.m) return no("queries that see nothing");
  if (!(p.scale > 0) || !std::isfinite(p.scale))
    return no("takes positive scales");  // the maximum is taken before scaling
  constexpr int kOldest = 91100, kWithAnyLength = 91501;
  if (version < kOldest) return no("cuDNN is older than 9.11");
  if (p.is_grad && version < kWithAnyLength && p.m % 128 != 0) return no("cuDNN 9.15.1 is the first for these lengths");
  if (p.is_grad && !p.any_order && !architecture.starts_with("sm_8") && architecture != "sm_90")
    return no("the same bits every time are not to be had on " + architecture);
  return {};
}

bool is_engine_readable(const DnnDims& sizes, const DnnDims& strides, std::int64_t offset_bytes) {
  constexpr std::int64_t kVector = 8, kBytes = 16;
  if (offset_bytes % kBytes != 0 || strides[3] != 1) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (sizes[i] > 1 && (strides[i] < kVector || strides[i] % kVector != 0)) return false;
  }
  return sizes[2] == 1 || strides[2] >= sizes[3];  // rows do not overlap
}

AttentionProblem bounded_part(const AttentionProblem& problem, std::size_t most_bytes) {
  if (!problem.is_grad || problem.any_order) return problem;
  const auto up = [](std::int64_t size, std::int64_t unit) { return (size + unit - 1) / unit * unit; };
  const auto head_bytes =
      static_cast<std::size_t>(2 * up(problem.n, 64) * up(problem.m, 128));  // rounded up to the engines' tiles
  auto part = problem;
  const auto is_enough = [&] { return head_bytes * static_cast<std::size_t>(part.batch * part.heads) <= most_bytes; };
  // Takes fewer, as divisors of all, if the next part's statistics are aligned to a whole vector.
  const auto take_fewer = [&](std::int64_t AttentionProblem::*count, std::int64_t all) {
    for (auto fewer = all - 1; fewer > 0 && !is_enough(); --fewer) {
      auto smaller = part;
      smaller.*count = fewer;
      if (all % fewer == 0 && smaller.batch * smaller.heads * smaller.n % 4 == 0) part = smaller;
    }
  };
  take_fewer(&AttentionProblem::batch, problem.batch);
  if (part.batch == 1) take_fewer(&AttentionProblem::heads, problem.heads);
  return part;
}

AttentionGraph attention_graph(const AttentionProblem& problem, AttentionForm form) {
  AttentionGraph made;
  if (problem.is_grad)
    made.inner = write_backward(made.graph, problem);
  else
    write_forward(made.graph, problem, form);
  return made;
}

}  // namespace burn::backends::cuda
