#include "backends/cuda/lower/linalg_library.h"

#include "backends/cuda/device/libraries.h"
#include "backends/cuda/lower/linalg_rule.h"
#include "backends/cuda/lower/matrices.h"
#include "backends/cuda/lower/target.h"

namespace burn::backends::cuda::by_library {
namespace {

using What = MatrixCall::What;

// --- how -------------------------------------------------------------------------------------------------------------

// Emits the library's calls, and owns the memory that all of them share.
class Calls {
 public:
  Calls(Emitter& emit, const MatrixBatch& batch, ir::DType dtype) : emit_(emit), batch_(batch), dtype_(dtype) {
    infos_ = zeros(batch.count);
  }

  const Address& infos() const { return infos_; }
  // Pivots, set to zero, which is no valid pivot: they stay zero if the library meets NaN.
  Address pivots() { return zeros(batch_.count * batch_.least()); }
  // Marks, one for each matrix, set to zero.
  Address marks() { return zeros(batch_.count); }
  // Pointers to the matrices of a, followed by those of b.
  Address pointers(const Address& a, std::int64_t a_elements, const Address& b = {}, std::int64_t b_elements = 0) {
    const auto made = emit_.scratch(2 * sizeof(std::int64_t) * static_cast<std::size_t>(batch_.count));
    const auto size = static_cast<std::int64_t>(ir::size_of(dtype_));
    const KernelSource source{
        "#include \"backends/cuda/kernels/factors.h\"\nusing namespace burn::cuda;\n"
        "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(char* a, char* b, std::int64_t* "
        "pointers,\n"
        "    std::int64_t count, std::int64_t a_bytes, std::int64_t b_bytes) {\n"
        "  find_matrices(a, b, pointers, count, a_bytes, b_bytes);\n}\n"};
    emit_.launch(source, {.blocks = divide_up(batch_.count, burn::cuda::kThreads), .threads = burn::cuda::kThreads},
                 {a, b_elements > 0 ? b : a, made, batch_.count, a_elements * size, b_elements * size});
    return made;
  }

  struct Places {
    Address a, b, values, more, pointers, pivots;
  };
  Status call(MatrixCall call, const Places& places) {
    call.dtype = dtype_;
    call.count = batch_.count;
    Solver* library = nullptr;  // null for a device without a GPU, which can compile kernels, but runs nothing
    std::size_t bytes = 0;
    if (!is_for_compiling(device_of(emit_))) {
      BURN_TRY(library, solver_of(device_of(emit_)));
      BURN_TRY(bytes, library->workspace_bytes(call));
    }
    const auto workspace = emit_.scratch(bytes);
    emit_.call(
        UncapturedCall{[library, call, places, infos = infos_, workspace, bytes](const Bindings& at, CUstream stream) {
          const MatrixAddresses addresses{.a = at.at(places.a),
                                          .b = at.at(places.b),
                                          .values = at.at(places.values),
                                          .more = at.at(places.more),
                                          .pointers = at.at(places.pointers),
                                          .pivots = at.at(places.pivots),
                                          .infos = at.at(infos),
                                          .workspace = at.at(workspace)};
          return library->run(call, addresses, bytes, stream);
        }});
    return {};
  }

  // Launches a kernel of kernels/factors.h over `elements` of each matrix.
  void launch(std::string parameters, const std::string& call, std::int64_t elements, std::vector<Argument> arguments,
              std::int64_t others = 0) {
    constexpr std::int64_t kPerThread = 4, kMaxBlocks = 1024;
    arguments.emplace_back(MatrixShape{batch_.rows, batch_.columns, others});
    const auto blocks = std::clamp<std::int64_t>(divide_up(elements, burn::cuda::kThreads * kPerThread), 1, kMaxBlocks);
    emit_.launch(matrix_kernel("factors.h", dtype_, std::move(parameters), call), grid_of(batch_, blocks),
                 std::move(arguments));
  }
  void launch_for_each(std::string parameters, const std::string& call, std::vector<Argument> arguments) {
    arguments.emplace_back(MatrixShape{batch_.rows, batch_.columns, 0});
    emit_.launch(matrix_kernel("factors.h", dtype_, std::move(parameters), call), grid_of(batch_),
                 std::move(arguments));
  }

 private:
  Address zeros(std::int64_t words) {
    const auto bytes = sizeof(std::int32_t) * static_cast<std::size_t>(words);
    const auto made = emit_.scratch(bytes);
    emit_.fill_zero(made, bytes);
    return made;
  }

  Emitter& emit_;
  const MatrixBatch batch_;
  const ir::DType dtype_;
  Address infos_;
};

View transposed(View x) {
  const int last = x.rank() - 1;
  std::swap(x.shape[last - 1], x.shape[last]);
  std::swap(x.strides[last - 1], x.strides[last]);
  return x;
}

// A column-major copy, which may be overwritten.
View by_columns(Emitter& emit, const View& x) {
  const View t = transposed(x), made = emit.scratch_value({x.dtype, t.shape});
  emit.copy(t, made);
  return made;
}

// Factors the column-major matrices at `a` into L and U, in place.
Status factor(Calls& calls, Method method, const MatrixBatch& batch, const View& a, const Address& pivots,
              const Address& pointers) {
  const auto what = method == Method::batched ? What::lu_batched : What::lu;
  return calls.call(
      {.what = what, .rows = batch.rows, .columns = batch.columns, .ld = batch.rows, .stride = batch.size()},
      {.a = a.address, .pointers = pointers, .pivots = pivots});
}

// A copy in which matrices that have NaN or infinity are replaced by zeros and marked.
View without_nonfinite(Emitter& emit, Calls& calls, const View& x, const Address& marks, bool lower) {
  const auto size = MatrixBatch(x.shape).size();
  const View whole = emit.contiguous(x), made = emit.scratch_value({x.dtype, x.shape});
  calls.launch("const T* x, int* marks", fmt::format("mark_outside(x, marks, {}, shape)", lower), size, {whole, marks});
  calls.launch("const T* x, const int* marks, T* y", "copy_unmarked(x, marks, y, shape)", size, {whole, marks, made});
  return made;
}

}  // namespace

template <typename Op>
bool is_better(Emitter& emit, const Op& op, const NodeInPlan& at) {
  if (method_for(op, MatrixBatch(emit.type_of(at.operand(0)).shape)) == Method::own_kernel) return false;
  return is_for_compiling(device_of(emit)) || solver_of(device_of(emit)).ok();
}
#define OP(type) template bool is_better(Emitter& emit, const ir::type& op, const NodeInPlan& at)
OP(Cholesky);
OP(Lu);
OP(Qr);
OP(Svd);
OP(Eigh);
OP(Solve);
OP(SolveTriangular);
#undef OP

// The lower triangle of a row-major matrix is the upper one of the same memory read as column-major.
Status lower(Emitter& emit, const ir::Cholesky& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  const MatrixBatch batch(x.shape);
  const bool is_batched = method_for(op, batch) == Method::batched;
  Calls calls(emit, batch, x.dtype);
  emit.copy(x, y);
  const auto pointers = is_batched ? calls.pointers(y.address, batch.size()) : Address();
  BURN_RETURN_IF_ERROR(calls.call({.what = is_batched ? What::cholesky_batched : What::cholesky,
                                   .rows = batch.rows,
                                   .columns = batch.rows,
                                   .ld = batch.rows,
                                   .stride = batch.size()},
                                  {.a = y.address, .pointers = pointers}));
  calls.launch("T* y, const int* infos, std::int64_t* report", "finish_cholesky(y, infos, report, shape)", batch.size(),
               {y, calls.infos(), report_of(emit, batch, ir::not_positive_definite)});
  return {};
}

Status lower(Emitter& emit, const ir::Lu& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View y = emit.result(at.result(0)), permutation = emit.result(at.result(1)), sign = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  const auto method = method_for(op, batch);
  Calls calls(emit, batch, x.dtype);
  const View a = by_columns(emit, x);
  const auto pivots = calls.pivots();
  const auto pointers = method == Method::batched ? calls.pointers(a.address, batch.size()) : Address();
  BURN_RETURN_IF_ERROR(factor(calls, method, batch, a, pivots, pointers));
  emit.copy(transposed(a), y);
  calls.launch("const int* pivots, std::int64_t* permutation, T* sign", "finish_lu(pivots, permutation, sign, shape)",
               batch.rows * 4, {pivots, permutation, sign});
  return {};
}

Status lower(Emitter& emit, const ir::Solve& op, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1)), x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  const auto sides = b.shape.back();
  const auto method = method_for(op, batch);
  Calls calls(emit, batch, a.dtype);
  const View factors = by_columns(emit, a);
  const View sought = sides == 0 ? View() : by_columns(emit, b);
  const auto pivots = calls.pivots();
  const bool is_batched = method == Method::batched;
  const auto pointers =
      is_batched ? calls.pointers(factors.address, batch.size(), sought.address, batch.rows * sides) : Address();
  BURN_RETURN_IF_ERROR(factor(calls, method, batch, factors, pivots, pointers));
  calls.launch_for_each("int* pivots, const int* infos, std::int64_t* report",
                        "check_pivots(pivots, infos, report, shape)",
                        {pivots, calls.infos(), report_of(emit, batch, ir::singular_matrix)});
  if (sides == 0) return {};
  BURN_RETURN_IF_ERROR(calls.call({.what = is_batched ? What::solve_batched : What::solve,
                                   .rows = batch.rows,
                                   .columns = batch.rows,
                                   .others = sides,
                                   .ld = batch.rows,
                                   .stride = batch.size(),
                                   .b_stride = batch.rows * sides},
                                  {.a = factors.address, .b = sought.address, .pointers = pointers, .pivots = pivots}));
  emit.copy(transposed(sought), x);
  return {};
}

// A X = B in row-major order is X^T A^T = B^T in column-major order.
Status lower(Emitter& emit, const ir::SolveTriangular& op, const NodeInPlan& at) {
  const View a = emit.contiguous(emit.read(at.operand(0))), b = emit.read(at.operand(1));
  const View x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  const auto sides = b.shape.back();
  Calls calls(emit, batch, a.dtype);
  emit.copy(b, x);
  return calls.call({.what = What::solve_triangular,
                     .rows = sides,
                     .columns = batch.rows,
                     .ld = batch.rows,
                     .stride = batch.size(),
                     .b_stride = batch.rows * sides,
                     .lower = !op.lower,
                     .unit = op.unit},
                    {.a = a.address, .b = x.address});
}

Status lower(Emitter& emit, const ir::Qr&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), q = emit.result(at.result(0)), r = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  const auto others = q.shape.back(), width = std::max(others, batch.columns);
  Calls calls(emit, batch, x.dtype);
  // Memory for all of Q, whose first columns hold the reflectors.
  ir::Shape shape = transposed(x).shape;
  shape[x.rank() - 2] = width;
  const View room = emit.scratch_value({x.dtype, shape});
  View reflectors = room;
  reflectors.shape = transposed(x).shape;
  emit.copy(transposed(x), reflectors);
  const auto factors = scratch_of(emit, x.dtype, batch.count * batch.least());
  const auto signs = scratch_of(emit, x.dtype, batch.count * others);
  const MatrixCall call{.rows = batch.rows, .ld = batch.rows, .stride = batch.rows * width};
  auto qr = call, form_q = call;
  qr.what = What::qr;
  qr.columns = batch.columns;
  form_q.what = What::q;
  form_q.columns = others;
  form_q.others = batch.least();
  BURN_RETURN_IF_ERROR(calls.call(qr, {.a = room.address, .more = factors}));
  calls.launch("const T* a, T* r, T* signs, std::int64_t width", "finish_r(a, r, signs, width, shape)",
               others * batch.columns, {room, r, signs, width}, others);
  BURN_RETURN_IF_ERROR(calls.call(form_q, {.a = room.address, .more = factors}));
  calls.launch("const T* a, const T* signs, T* q, std::int64_t width", "finish_q(a, signs, q, width, shape)",
               others * batch.rows, {room, signs, q, width}, others);
  return {};
}

// A row-major x is its transpose in column-major order: V S U^T.
Status lower(Emitter& emit, const ir::Svd&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View u = emit.result(at.result(0)), s = emit.result(at.result(1)), vt = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  Calls calls(emit, batch, x.dtype);
  const auto marks = calls.marks();
  const View a = without_nonfinite(emit, calls, x, marks, false);
  const auto columns_of_u = scratch_of(emit, x.dtype, batch.count * batch.rows * batch.least());
  BURN_RETURN_IF_ERROR(calls.call({.what = What::svd,
                                   .rows = batch.columns,
                                   .columns = batch.rows,
                                   .ld = batch.columns,
                                   .stride = batch.size(),
                                   .b_stride = batch.columns * batch.least()},
                                  {.a = a.address, .b = vt.address, .values = s.address, .more = columns_of_u}));
  calls.launch("const T* columns_of_u, const int* marks, const int* infos, T* u, T* s, T* vt, std::int64_t* report",
               "finish_svd(columns_of_u, marks, infos, u, s, vt, report, shape)", batch.size(),
               {columns_of_u, marks, calls.infos(), u, s, vt, report_of(emit, batch, ir::not_converged)});
  return {};
}

Status lower(Emitter& emit, const ir::Eigh&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View values = emit.result(at.result(0)), vectors = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  Calls calls(emit, batch, x.dtype);
  const auto marks = calls.marks();
  const View w = without_nonfinite(emit, calls, x, marks, true);
  BURN_RETURN_IF_ERROR(calls.call(
      {.what = What::eigh, .rows = batch.rows, .columns = batch.rows, .ld = batch.rows, .stride = batch.size()},
      {.a = w.address, .values = values.address}));
  calls.launch("const T* w, const int* marks, const int* infos, T* values, T* vectors, std::int64_t* report",
               "finish_eigh(w, marks, infos, values, vectors, report, shape)", batch.size(),
               {w, marks, calls.infos(), values, vectors, report_of(emit, batch, ir::not_converged)});
  return {};
}

}  // namespace burn::backends::cuda::by_library
