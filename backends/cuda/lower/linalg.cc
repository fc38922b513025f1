// Factorisations by kernels of our own, a block for each matrix. Det is made of Lu (backends/plan/decompose_linalg.cc).
#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"
#include "backends/failures.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;

// As kernels/linalg.h has it.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0, others = 0;
};

struct MatrixBatch {
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit MatrixBatch(const ir::Shape& shape) : rows(shape[shape.rank() - 2]), columns(shape.back()) {
    for (int i = 0; i < shape.rank() - 2; ++i) count *= shape[i];
  }
  std::int64_t least() const { return std::min(rows, columns); }
};

// In the parameters, "T*" points to elements.
KernelSource kernel(const char* header, ir::DType dtype, std::string parameters, const std::string& call) {
  const std::string type = storage_type(dtype);
  for (auto at = parameters.find("T*"); at != std::string::npos; at = parameters.find("T*", at + type.size()))
    parameters.replace(at, 1, type);
  return {
      fmt::format("#include \"backends/cuda/kernels/{}\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel({},\n"
                  "    const __grid_constant__ MatrixShape shape) {{\n"
                  "  {};\n"
                  "}}\n",
                  header, parameters, call)};
}

Grid grid_of(const MatrixBatch& batch, std::int64_t blocks_y = 1) {
  return {.blocks = batch.count, .threads = kThreads, .blocks_y = blocks_y};
}

Address scratch_of(Emitter& emit, ir::DType dtype, std::int64_t count) {
  return emit.scratch(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * ir::size_of(dtype));
}

// Row-major, in memory of its own, to be written over.
View copy_of(Emitter& emit, const View& x) {
  const View whole = emit.scratch_value({x.dtype, x.shape});
  emit.copy(x, whole);
  return whole;
}

// Zeros for what is empty in one dimension but not in another.
void zero(Emitter& emit, const View& y) {
  emit.fill_zero(y.address, static_cast<std::size_t>(y.num_elements()) * ir::size_of(y.dtype));
}

Address report(Emitter& emit, const MatrixBatch& batch, Status (*explain)(const MatrixFailure&)) {
  return emit.report([batch, explain](std::int64_t found) {
    return explain({.matrix = found >> 32,
                    .count = batch.count,
                    .rows = batch.rows,
                    .columns = batch.columns,
                    .number = found & 0xffffffff});
  });
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Cholesky&, const NodeInPlan& at) {
  const View x = emit.contiguous(emit.read(at.operand(0))), y = emit.result(at.result());
  const MatrixBatch batch(x.shape);
  if (y.num_elements() == 0) return {};
  emit.launch(kernel("linalg.h", x.dtype, "const T* x, T* y, std::int64_t* report", "cholesky(x, y, report, shape)"),
              grid_of(batch),
              {x, y, report(emit, batch, not_positive_definite), MatrixShape{batch.rows, batch.rows, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Lu&, const NodeInPlan& at) {
  const View x = emit.contiguous(emit.read(at.operand(0)));
  const View y = emit.result(at.result(0)), permutation = emit.result(at.result(1)), sign = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (batch.count == 0) return {};
  emit.launch(kernel("linalg.h", x.dtype, "const T* x, T* y, std::int64_t* permutation, T* sign",
                     "lu(x, y, permutation, sign, shape)"),
              grid_of(batch), {x, y, permutation, sign, MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Qr&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), q = emit.result(at.result(0)), r = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (q.num_elements() == 0) {
    zero(emit, r);
    return {};
  }
  emit.launch(kernel("linalg.h", x.dtype, "T* a, T* taus, T* q, T* r", "qr(a, taus, q, r, shape)"), grid_of(batch),
              {copy_of(emit, x), scratch_of(emit, x.dtype, batch.count * batch.least()), q, r,
               MatrixShape{batch.rows, batch.columns, q.shape.back()}});
  return {};
}

Status lower(Emitter& emit, const ir::Svd&, const NodeInPlan& at) {
  const View x = emit.contiguous(emit.read(at.operand(0)));
  const View u = emit.result(at.result(0)), s = emit.result(at.result(1)), vt = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  const auto k = batch.least();
  emit.launch(kernel("jacobi.h", x.dtype,
                     "const T* x, T* u, T* s, T* vt, T* w, T* v, T* values, std::int64_t* ranks, std::int64_t* report",
                     "svd(x, u, s, vt, w, v, values, ranks, report, shape)"),
              grid_of(batch),
              {x, u, s, vt, scratch_of(emit, x.dtype, x.num_elements()), scratch_of(emit, x.dtype, batch.count * k * k),
               scratch_of(emit, x.dtype, batch.count * k), scratch_of(emit, ir::DType::i64, batch.count * k),
               report(emit, batch, not_converged), MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Eigh&, const NodeInPlan& at) {
  const View x = emit.contiguous(emit.read(at.operand(0)));
  const View values = emit.result(at.result(0)), vectors = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  emit.launch(
      kernel("jacobi.h", x.dtype,
             "const T* x, T* values, T* vectors, T* w, T* v, T* found, std::int64_t* ranks, std::int64_t* report",
             "eigh(x, values, vectors, w, v, found, ranks, report, shape)"),
      grid_of(batch),
      {x, values, vectors, scratch_of(emit, x.dtype, x.num_elements()), scratch_of(emit, x.dtype, x.num_elements()),
       scratch_of(emit, x.dtype, batch.count * batch.rows), scratch_of(emit, ir::DType::i64, batch.count * batch.rows),
       report(emit, batch, not_converged), MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Solve&, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1)), x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  if (a.num_elements() == 0) return {};
  emit.copy(b, x);
  emit.launch(kernel("linalg.h", a.dtype, "T* a, T* x, std::int64_t* report", "solve(a, x, report, shape)"),
              grid_of(batch),
              {copy_of(emit, a), x, report(emit, batch, singular_matrix),
               MatrixShape{batch.rows, batch.columns, b.shape.back()}});
  return {};
}

Status lower(Emitter& emit, const ir::SolveTriangular& op, const NodeInPlan& at) {
  const View a = emit.contiguous(emit.read(at.operand(0))), b = emit.read(at.operand(1));
  const View x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  if (x.num_elements() == 0) return {};
  emit.copy(b, x);
  constexpr std::int64_t kShare = 32;  // columns that keep a block busy
  emit.launch(kernel("linalg.h", a.dtype, "const T* a, T* x",
                     fmt::format("solve_triangular(a, x, {}, {}, shape)", op.lower, op.unit)),
              grid_of(batch, std::min<std::int64_t>(divide_up(b.shape.back(), kShare), 65535)),
              {a, x, MatrixShape{batch.rows, batch.columns, b.shape.back()}});
  return {};
}

Status lower(Emitter&, const ir::Det&, const NodeInPlan&) {
  return unimplemented("CUDA: a determinant by itself");  // supports() says no: it is made of Lu
}

}  // namespace lowering
}  // namespace burn::backends::cuda
