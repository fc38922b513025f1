// Fourier transforms by cuFFT, on complex pairs that are packed before and unpacked after. Without the library they are
// products with small matrices (compile/rewrite/decompose_fourier.cc), which supports() requests.
#include <fmt/format.h>

#include "backends/cuda/device/libraries.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/target.h"
#include "compile/codegen/operands.h"
#include "compile/codegen/walks.h"

namespace burn::backends::cuda {
namespace {

using Kind = Transforms::Kind;

// The same struct as in kernels/fourier.h.
struct RealEnds {
  std::int64_t step = 1, size = 0, last = 0;
};

// The layout of a tensor's lines for the transform: [lines, length] if its last dim is transformed, as neighbours are
// contiguous then, otherwise [length, lines].
class Lines {
 public:
  Lines(const ir::Shape& shape, std::int64_t axis) : axis_(static_cast<int>(axis)) {
    for (int d = axis_ + 1; d < shape.rank(); ++d) by_columns_ = by_columns_ || shape[d] > 1;
    for (int d = 0; d < shape.rank(); ++d) {
      if (d != axis_) lines_ *= shape[d];
    }
  }

  bool by_columns() const { return by_columns_; }
  std::int64_t count() const { return lines_; }
  std::int64_t step() const { return by_columns_ ? lines_ : 1; }

  // The view's dims in that order.
  View in_order(const View& view) const {
    View moved = view;
    int to = 0;
    const auto take = [&](int d) {
      moved.shape[to] = view.shape[d];
      moved.strides[to++] = view.strides[d];
    };
    if (by_columns_) take(axis_);
    for (int d = 0; d < view.rank(); ++d) {
      if (d != axis_) take(d);
    }
    if (!by_columns_) take(axis_);
    return moved;
  }

 private:
  int axis_;
  bool by_columns_ = false;
  std::int64_t lines_ = 1;
};

std::size_t pair_bytes(const View& view) {
  return 2 * static_cast<std::size_t>(view.num_elements()) * ir::size_of(view.dtype);
}

// Launches a kernel over the pairs, whose real and imaginary parts are in two tensors.
void launch_over_parts(Emitter& emit, const std::string& parameters, const std::string& call, const View& re,
                       const View& im, std::vector<Argument> arguments) {
  constexpr int kThreads = 256;
  const auto dims = [](const ir::Dims& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  const auto walk = compile::merge_dims(re.shape.span(), {dims(re.strides), dims(im.strides)});
  arguments.push_back(compile::walk_argument(walk));
  const std::string type = storage_type(re.dtype);
  auto list = parameters;
  for (auto at = list.find("T*"); at != std::string::npos; at = list.find("T*", at + type.size()))
    list.replace(at, 1, type);
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/fourier.h\"\nusing namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__({0}) burn_kernel({1}, const Walk<2> walk) {{\n"
                  "  {2};\n}}\n",
                  kThreads, list, fmt::format(fmt::runtime(call), type))};
  emit.launch(source, {.blocks = (re.num_elements() + kThreads - 1) / kThreads, .threads = kThreads},
              std::move(arguments));
}

Address join(Emitter& emit, const View& re, const View& im, const RealEnds& ends) {
  const auto pairs = emit.scratch(pair_bytes(re));
  launch_over_parts(emit, "const T* re, const T* im, void* y, std::int64_t count, const RealEnds ends",
                    "join(re, im, static_cast<Pair<{}>*>(y), count, ends, walk)", re, im,
                    {re, im, pairs, re.num_elements(), ends});
  return pairs;
}

void split(Emitter& emit, const Address& pairs, const View& re, const View& im) {
  launch_over_parts(emit, "const void* x, T* re, T* im, std::int64_t count",
                    "split(static_cast<const Pair<{}>*>(x), re, im, count, walk)", re, im,
                    {pairs, re, im, re.num_elements()});
}

// A device without a GPU can compile kernels, but runs nothing.
Status transform(Emitter& emit, const Transforms& what, const Address& from, const Address& to, bool inverse) {
  std::shared_ptr<const PreparedTransforms> prepared;
  if (!is_for_compiling(device_of(emit))) {
    BURN_TRY(auto* library, cufft_of(device_of(emit)));
    BURN_TRY(prepared, library->prepare(what));
  }
  const auto workspace = emit.scratch(prepared ? prepared->workspace_bytes() : 0);
  emit.call([prepared, from, to, workspace, inverse](const Bindings& at, CUstream stream) {
    return prepared->run(at.at(from), at.at(to), at.at(workspace), inverse, stream);
  });
  return {};
}

bool is_aligned_to_pairs(const View& view) {
  return view.address.offset % static_cast<std::int64_t>(2 * ir::size_of(view.dtype)) == 0;
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Fft& op, const NodeInPlan& at) {
  const View re = emit.read(at.operand(0)), im = emit.read(at.operand(1));
  const View y_re = emit.result(at.result(0)), y_im = emit.result(at.result(1));
  if (re.num_elements() == 0) return {};
  const auto length = re.shape[static_cast<int>(op.axis)];
  if (length == 1) {
    emit.copy(re, y_re);
    emit.copy(im, y_im);
    return {};
  }
  const Lines lines(re.shape, op.axis);
  const auto pairs = join(emit, lines.in_order(re), lines.in_order(im), {});
  const auto spectrum = emit.scratch(pair_bytes(re));
  BURN_RETURN_IF_ERROR(transform(emit, {Kind::complex, re.dtype, length, lines.count(), lines.by_columns()}, pairs,
                                 spectrum, op.inverse));
  split(emit, spectrum, lines.in_order(y_re), lines.in_order(y_im));
  return {};
}

Status lower(Emitter& emit, const ir::RealFft& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View re = emit.result(at.result(0)), im = emit.result(at.result(1));
  if (re.num_elements() == 0) return {};
  const auto length = x.shape[static_cast<int>(op.axis)];
  if (length == 1) {
    emit.copy(x, re);
    emit.fill_zero(im.address, static_cast<std::size_t>(im.num_elements()) * ir::size_of(im.dtype));
    return {};
  }
  const Lines lines(x.shape, op.axis);
  View signal = lines.in_order(x);
  if (!signal.is_contiguous() || !is_aligned_to_pairs(signal)) {
    const auto whole = emit.scratch_value({signal.dtype, signal.shape});
    emit.copy(signal, whole);
    signal = whole;
  }
  const auto spectrum = emit.scratch(pair_bytes(re));
  BURN_RETURN_IF_ERROR(transform(emit, {Kind::from_real, x.dtype, length, lines.count(), lines.by_columns()},
                                 signal.address, spectrum, false));
  split(emit, spectrum, lines.in_order(re), lines.in_order(im));
  return {};
}

Status lower(Emitter& emit, const ir::InverseRealFft& op, const NodeInPlan& at) {
  const View re = emit.read(at.operand(0)), im = emit.read(at.operand(1)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  if (op.length == 1) {
    emit.copy(re, y);
    return {};
  }
  const Lines lines(y.shape, op.axis);
  const RealEnds ends{lines.step(), op.length / 2 + 1, op.length % 2 == 0 ? op.length / 2 : 0};
  const auto pairs = join(emit, lines.in_order(re), lines.in_order(im), ends);
  const View to = lines.in_order(y);
  const bool is_in_place = to.is_contiguous();
  const View signal = is_in_place ? to : emit.scratch_value({to.dtype, to.shape});
  BURN_RETURN_IF_ERROR(transform(emit, {Kind::to_real, y.dtype, op.length, lines.count(), lines.by_columns()}, pairs,
                                 signal.address, true));
  if (!is_in_place) emit.copy(signal, to);
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
