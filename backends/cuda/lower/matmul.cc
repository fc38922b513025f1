#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/product.h"
#include "backends/cuda/lower/small_product.h"
#include "backends/cuda/lower/target.h"
#include "compile/codegen/operands.h"
#include "compile/codegen/walks.h"

namespace burn::backends::cuda {
namespace {

std::vector<std::int64_t> batch_of(const ir::Dims& dims) { return {dims.begin(), dims.begin() + dims.rank() - 2}; }

// Whether rows or columns are contiguous, so that a library can read the matrix.
bool is_readable(const View& view) {
  const auto rows = view.shape[view.rank() - 2], columns = view.shape[view.rank() - 1];
  const auto row_stride = view.strides[view.rank() - 2], column_stride = view.strides[view.rank() - 1];
  const bool by_rows = (column_stride == 1 || columns == 1) && (rows == 1 || row_stride >= columns);
  const bool by_columns = (row_stride == 1 || rows == 1) && (columns == 1 || column_stride >= rows);
  return by_rows || by_columns;
}

int alignment_of(const Address& address) {
  for (int bytes = 256; bytes > 1; bytes /= 2) {
    if (address.offset % bytes == 0) return bytes;
  }
  return 1;
}

Matrix matrix_of(const View& view, std::int64_t batch_stride) {
  const int last = view.rank() - 1;
  Matrix matrix{view.shape[last - 1], view.shape[last], view.strides[last - 1],
                view.strides[last],   batch_stride,     alignment_of(view.address)};
  if (matrix.rows == 1) matrix.row_stride = matrix.columns;
  if (matrix.columns == 1 && matrix.row_stride != 1) matrix.column_stride = 1;
  return matrix;
}

Status multiply_plainly(Emitter& emit, const View& a, const View& b, const View& c) {
  const int last = c.rank() - 1;
  auto a_strides = a.strides, b_strides = b.strides;
  a_strides[last] = 0;
  b_strides[last - 1] = 0;
  const auto dims = [](const ir::Dims& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  const auto walk = compile::merge_dims(c.shape.span(), {dims(a_strides), dims(b_strides)});
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/matmul.h\"\nusing namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(256) burn_kernel(const {0}* a, const {0}* b, {0}* c, "
                  "std::int64_t count, std::int64_t k,\n"
                  "    std::int64_t a_step, std::int64_t b_step, const Walk<2> walk) {{\n"
                  "  multiply<{0}>(a, b, c, count, k, a_step, b_step, walk);\n}}\n",
                  storage_type(c.dtype))};
  const auto count = c.num_elements();
  emit.launch(source, {.blocks = (count + 255) / 256},
              {a, b, c, count, a.shape[last], a.strides[last], b.strides[last - 1], compile::walk_argument(walk)});
  return {};
}

// The product for the library; std::nullopt if it cannot read the operands in place. Requires: dtypes that the library
// supports, and elements in all three.
std::optional<Product> product_of(const Emitter& emit, const View& a, const View& b, const View& c) {
  if (!is_readable(a) || !is_readable(b)) return std::nullopt;
  const auto sizes = batch_of(c.shape);
  const auto walk = compile::merge_dims(sizes, {batch_of(a.strides), batch_of(b.strides), batch_of(c.strides)});
  Product product;
  product.batch = ir::num_elements(ir::Shape(std::span(sizes)));
  product.dtype = c.dtype;
  product.tf32 = c.dtype == ir::DType::f32 && emit.allows_tf32();
  if (product.batch > 1 && walk.rank() > 1) return std::nullopt;
  const auto batch_stride = [&](std::size_t k) { return product.batch > 1 ? walk.strides[k][0] : 0; };
  product.a = matrix_of(a, batch_stride(0));
  product.b = matrix_of(b, batch_stride(1));
  product.c = matrix_of(c, batch_stride(2));
  const bool stacks = product.a.column_stride == 1 && product.a.batch_stride == product.a.rows * product.a.row_stride;
  if (product.batch > 1 && product.b.batch_stride == 0 &&
      stacks) {  // one b for the whole batch: the rows of all a's form one matrix
    product.a.rows *= product.batch;
    product.c.rows *= product.batch;
    product.batch = 1;
  }
  return product;
}

std::string text_of(const Product& product) {
  const auto text = [](const Matrix& m) {
    return fmt::format("{}x{} {} {} {}", m.rows, m.columns, m.row_stride, m.column_stride, m.alignment % 16 == 0);
  };
  return fmt::format("({}) ({}){}", text(product.a), text(product.b),
                     product.epilogue == Epilogue::bias ? " + bias" : "");
}

void call(Emitter& emit, const std::shared_ptr<const PreparedProduct>& prepared, const View& a, const View& b,
          const View& c, const Address& vector) {
  const auto workspace = emit.scratch(prepared->workspace_bytes());
  const auto run = [prepared, a = a.address, b = b.address, c = c.address, vector, workspace](const Bindings& at,
                                                                                              CUstream stream) {
    const ProductAddresses addresses{.a = at.at(a),
                                     .b = at.at(b),
                                     .c = at.at(c),
                                     .vector = vector.base == Address::Base::none ? 0 : at.at(vector),
                                     .workspace = at.at(workspace)};
    return prepared->run(addresses, stream);
  };
  emit.call(KnownCall{{a.address, b.address, c.address, vector, workspace}, run});
}

Status call_library(Emitter& emit, const Product& product, const View& a, const View& b, const View& c,
                    const Address& vector) {
  BURN_TRY(auto* library, device_of(emit).cublas());
  BURN_TRY(const auto prepared, library->prepare(product));
  call(emit, prepared, a, b, c, vector);
  return {};
}

// Multiplies by the library or by a kernel of our own, whichever is faster. The choice depends on the operands'
// alignment but not on their addresses; trials have no worse alignment. `vector`: a bias; std::nullopt: none.
Status multiply_fastest(Emitter& emit, const Product& product, const View& a, const View& b, const View& c,
                        const std::optional<View>& vector) {
  std::vector<View> operands{a, b};
  if (vector) operands.push_back(*vector);
  const auto bias = [has_bias = vector.has_value()](std::span<const View> from) {
    return has_bias ? from[2].address : Address{};
  };
  const Alternative ways[] = {
      {"library",
       [&](Emitter& to, std::span<const View> from, std::span<const View> into) {
         return call_library(to, product, from[0], from[1], into[0], bias(from));
       }},
      {"parts of the depth", [&](Emitter& to, std::span<const View> from, std::span<const View> into) {
         multiply_small(to, product, from[0], from[1], into[0], bias(from));
         return ok_status();
       }}};
  return emit_fastest(emit, "small product " + text_of(product), operands, {&c, 1}, ways);
}

}  // namespace

Status multiply(Emitter& emit, View a, View b, const View& c) {
  if (c.num_elements() == 0) return {};
  const int last = c.rank() - 1;
  if (a.shape[last] == 0) {
    emit.fill_zero(c.address, static_cast<std::size_t>(c.num_elements()) * ir::size_of(c.dtype));
    return {};
  }
  if (!CublasLt::has(c.dtype)) return multiply_plainly(emit, a, b, c);
  if (!is_readable(a)) a = emit.contiguous(a);
  if (!is_readable(b)) b = emit.contiguous(b);
  auto product = product_of(emit, a, b, c);
  if (!product) {
    a = emit.contiguous(a);
    b = emit.contiguous(b);
    product = product_of(emit, a, b, c);
  }
  if (product && is_small(device_of(emit), *product)) return multiply_fastest(emit, *product, a, b, c, {});
  BURN_TRY(auto* library, device_of(emit).cublas());
  const auto prepared = product ? library->prepare(*product) : unimplemented("cuBLASLt: such a batch");
  if (!prepared.ok()) return multiply_plainly(emit, a, b, c);
  call(emit, *prepared, a, b, c, {});
  return {};
}

Status multiply_with(Emitter& emit, Epilogue epilogue, const View& a, const View& b, const View& c,
                     const View& vector) {
  constexpr int kVectorLoad = 16;  // bytes
  if (!CublasLt::has_epilogues(c.dtype)) return unimplemented("cuBLASLt: an epilogue of such numbers");
  if (c.num_elements() == 0 || a.shape[a.rank() - 1] == 0) return unimplemented("cuBLASLt: nothing to multiply");
  auto product = product_of(emit, a, b, c);
  if (!product || product->batch != 1) return unimplemented("cuBLASLt: an epilogue of such operands");
  product->epilogue = epilogue;
  product->vector_alignment = alignment_of(vector.address);
  if (product->vector_alignment < kVectorLoad) return unimplemented("cuBLASLt: an epilogue in such a place");
  if (epilogue == Epilogue::bias && is_small(device_of(emit), *product))
    return multiply_fastest(emit, *product, a, b, c, vector);
  return call_library(emit, *product, a, b, c, vector.address);
}

namespace lowering {

Status lower(Emitter& emit, const ir::MatMul&, const NodeInPlan& at) {
  const auto a = emit.read(at.operand(0)), b = emit.read(at.operand(1));
  return multiply(emit, a, b, emit.result(at.result()));
}

}  // namespace lowering
}  // namespace burn::backends::cuda
