#include "backends/cuda/lower/attention.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "backends/cuda/libraries/cudnn.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/target.h"
#include "base/settings.h"

namespace burn::backends::cuda {
namespace {

constexpr std::size_t kOperands = 3, kGradOperands = 6;  // without a mask and a bias

// The batch dims as two: all but the last, and the last; 1 if there are none.
std::pair<std::int64_t, std::int64_t> split_batch(const ir::Shape& shape) {
  const int dims = shape.rank() - 2;
  if (dims == 0) return {1, 1};
  if (dims == 1) return {shape[0], 1};
  std::int64_t outer = 1;
  for (int i = 0; i < dims - 1; ++i) outer *= shape[i];
  return {outer, shape[dims - 1]};
}

// The problem with row-major operands.
template <typename Op>
AttentionProblem problem_of(const Op& op, const ir::TensorType& q, const ir::TensorType& v) {
  const int rank = q.shape.rank();
  AttentionProblem p;
  p.is_grad = std::is_same_v<Op, ir::AttentionGrad>;
  p.dtype = q.dtype;
  std::tie(p.batch, p.heads) = split_batch(q.shape);
  p.n = q.shape[rank - 2], p.d = q.shape[rank - 1], p.m = v.shape[rank - 2], p.e = v.shape[rank - 1];
  p.scale = op.scale;
  p.causal = op.causal;
  p.any_order = p.is_grad && is_off(Setting::deterministic);
  p.set_row_major();
  return p;
}

template <typename Op>
Status ask(Device& device, const Op& op, std::span<const ir::TensorType* const> operands, std::size_t most) {
  if (is_off(Setting::attention)) return unimplemented("attention: BURN_ATTENTION is off");
  if (operands.size() > most) return unimplemented("attention: cuDNN is given no masks and biases");
  device.make_current();
  const auto library = device.cudnn();
  if (!library.ok()) return unimplemented("attention: " + library.status().message());
  return (*library)->attention().supports(problem_of(op, *operands[0], *operands[2]), device.architecture());
}

// Prints the reason for a decomposition into other ops, which is shown nowhere else.
Status traced(Status status) {
  if (!status.ok() && setting(Setting::trace).find("plan") != std::string::npos)
    fmt::print(stderr, "not fused: {}\n", status.message());
  return status;
}

// An operand of the library, which reads many strides, but not all.
class Operand {
 public:
  Operand(Emitter& emit, ir::Ref ref, const DnnDims& sizes) : emit_(emit), view_(emit.read(ref)), sizes_(sizes) {}

  // The operand's strides; std::nullopt if the library needs a copy.
  std::optional<DnnDims> strides() const {
    const auto split =
        compile::reshaped_strides(view_.shape, view_.strides, ir::Shape(std::span<const std::int64_t>(sizes_)));
    if (!split) return std::nullopt;
    DnnDims strides{};
    std::int64_t span = 1;
    for (std::size_t i = 4;
         i-- > 0;) {  // a dim of size 1 may have any stride, but the library requires a plausible one
      strides[i] = sizes_[i] == 1 ? span : (*split)[static_cast<int>(i)];
      span = std::max(span, strides[i] * sizes_[i]);
    }
    if (!is_engine_readable(sizes_, strides, view_.address.offset)) return std::nullopt;
    return strides;
  }
  void copy() { view_ = emit_.contiguous(view_); }
  const Address& address() const { return view_.address; }
  DnnDims row_major() const { return cuda::row_major(sizes_); }

 private:
  Emitter& emit_;
  View view_;
  DnnDims sizes_;
};

// Sets the operands' strides in the problem. Copies those operands that the library cannot read, or all of them if no
// engine accepts the problem otherwise.
Result<std::shared_ptr<const PreparedAttention>> prepare(AttentionLibrary& library, AttentionProblem problem,
                                                         std::span<Operand> operands) {
  DnnDims* const strides[] = {&problem.q, &problem.k, &problem.v, &problem.y, &problem.g};
  bool all_row_major = true;
  const auto own = problem;  // with the strides of the results
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (const auto found = operands[i].strides())
      *strides[i] = *found;
    else
      operands[i].copy();
    all_row_major = all_row_major && *strides[i] == operands[i].row_major();
  }
  auto prepared = library.prepare(problem);
  if (prepared.ok() || all_row_major) return prepared;
  for (auto& operand : operands) operand.copy();
  problem.set_row_major();
  if (!problem.is_grad) problem.y = own.y;
  problem.dq = own.dq, problem.dk = own.dk, problem.dv = own.dv;
  return library.prepare(problem);
}

// The strides of a result, if the library can write it in place.
std::optional<DnnDims> result_strides(const View& view, const DnnDims& sizes) {
  const auto split =
      compile::reshaped_strides(view.shape, view.strides, ir::Shape(std::span<const std::int64_t>(sizes)));
  if (!split) return std::nullopt;
  DnnDims strides{};
  std::int64_t span = 1;
  for (std::size_t i = 4; i-- > 0;) {
    strides[i] = sizes[i] == 1 ? span : (*split)[static_cast<int>(i)];
    span = std::max(span, strides[i] * sizes[i]);
  }
  return is_engine_readable(sizes, strides, view.address.offset) ? std::optional(strides) : std::nullopt;
}

void enqueue(Emitter& emit, std::shared_ptr<const PreparedAttention> prepared, std::vector<Address> memory) {
  const auto workspace = emit.scratch(prepared->workspace_bytes());
  emit.call(
      [prepared = std::move(prepared), memory = std::move(memory), workspace](const Bindings& at, CUstream stream) {
        std::array<CUdeviceptr, 9> addresses{};
        for (std::size_t i = 0; i < memory.size(); ++i) addresses[i] = at.at(memory[i]);
        return prepared->run(std::span(addresses).first(memory.size()), at.at(workspace), stream);
      });
}

}  // namespace

Status supports_attention(Device& device, const ir::Attention& op, std::span<const ir::TensorType* const> operands) {
  return traced(ask(device, op, operands, kOperands));
}
Status supports_attention(Device& device, const ir::AttentionGrad& op,
                          std::span<const ir::TensorType* const> operands) {
  return traced(ask(device, op, operands, kGradOperands));
}

// Unsupported attention was decomposed before (compile/rewrite/decompose.h).
namespace lowering {

Status lower(Emitter& emit, const ir::Attention& op, const NodeInPlan& at) {
  BURN_TRY(auto* library, device_of(emit).cudnn());
  const auto problem = problem_of(op, emit.type_of(at.operand(0)), emit.type_of(at.operand(2)));
  const DnnDims keys{problem.batch, problem.heads, problem.m, problem.d};
  Operand operands[] = {{emit, at.operand(0), {problem.batch, problem.heads, problem.n, problem.d}},
                        {emit, at.operand(1), keys},
                        {emit, at.operand(2), {problem.batch, problem.heads, problem.m, problem.e}}};
  const auto y = emit.result(at.result());
  auto into = y;
  if (const auto strides = result_strides(y, {problem.batch, problem.heads, problem.n, problem.e})) {
    auto wanted = problem;
    wanted.y = *strides;
    Operand read[] = {operands[0], operands[1], operands[2]};
    if (auto prepared = prepare(library->attention(), wanted, read); prepared.ok()) {
      enqueue(emit, *std::move(prepared),
              {read[0].address(), read[1].address(), read[2].address(), y.address, emit.result(at.result(1)).address});
      return {};
    }
  }
  if (!y.is_contiguous()) into = emit.scratch_value({y.dtype, y.shape});  // no engine writes to these strides
  BURN_TRY(auto prepared, prepare(library->attention(), problem, operands));
  enqueue(emit, std::move(prepared),
          {operands[0].address(), operands[1].address(), operands[2].address(), into.address,
           emit.result(at.result(1)).address});
  if (!y.is_contiguous()) emit.copy(into, y);
  return {};
}

Status lower(Emitter& emit, const ir::AttentionGrad& op, const NodeInPlan& at) {
  BURN_TRY(auto* library, device_of(emit).cudnn());
  const auto problem = problem_of(op, emit.type_of(at.operand(0)), emit.type_of(at.operand(2)));
  const DnnDims queries{problem.batch, problem.heads, problem.n, problem.d},
      keys{problem.batch, problem.heads, problem.m, problem.d},
      values{problem.batch, problem.heads, problem.m, problem.e},
      results{problem.batch, problem.heads, problem.n, problem.e};
  Operand operands[] = {{emit, at.operand(0), queries},
                        {emit, at.operand(1), keys},
                        {emit, at.operand(2), values},
                        {emit, at.operand(3), results},
                        {emit, at.operand(5), results}};
  const auto statistics = emit.contiguous(emit.read(at.operand(4)));
  const auto run = [&](std::shared_ptr<const PreparedAttention> prepared, std::span<const Operand> read,
                       std::span<const Address> into) {
    enqueue(emit, std::move(prepared),
            {read[0].address(), read[1].address(), read[2].address(), read[3].address(), statistics.address,
             read[4].address(), into[0], into[1], into[2]});
  };
  // Writes all three gradients directly to the places that their reader requests, or else each to memory of its own.
  const DnnDims* const sizes[] = {&queries, &keys, &values};
  auto placed = problem;
  DnnDims* const strides[] = {&placed.dq, &placed.dk, &placed.dv};
  std::vector<Address> places;
  for (int k = 0; k < 3; ++k) {
    const auto place = emit.place(at.result(k));
    if (!place) break;
    const auto found = result_strides(*place, *sizes[k]);
    if (!found) break;
    *strides[k] = *found;
    places.push_back(place->address);
  }
  if (places.size() == 3) {
    Operand read[] = {operands[0], operands[1], operands[2], operands[3], operands[4]};
    if (auto prepared = prepare(library->attention(), placed, read); prepared.ok()) {
      run(*std::move(prepared), read, places);
      for (int k = 0; k < 3; ++k) emit.set_in_place(at.result(k));
      return {};
    }
  }
  BURN_TRY(auto prepared, prepare(library->attention(), problem, operands));
  const Address into[] = {emit.result(at.result()).address, emit.result(at.result(1)).address,
                          emit.result(at.result(2)).address};
  run(std::move(prepared), operands, into);
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
