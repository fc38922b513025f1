#include "backends/cuda/lower/alternatives.h"

#include "backends/cuda/compile_names.h"
#include "backends/cuda/device/enqueue.h"
#include "backends/cuda/driver/trial.h"
#include "backends/cuda/lower/target.h"

namespace burn::backends::cuda {
namespace {

std::size_t bytes_of(const View& view) {
  std::int64_t last = 0;
  for (int d = 0; d < view.rank(); ++d) last += (view.shape[d] - 1) * view.strides[d];
  return static_cast<std::size_t>(last + 1) * ir::size_of(view.dtype);
}

// Writes down what one alternative does to operands of its own.
class TrialEmitter final : public Emitter {
 public:
  explicit TrialEmitter(Device& device) : target_(device) {}

  compile::Target& target() override { return target_; }
  Address scratch(std::size_t bytes) override {
    offsets_.push_back(static_cast<std::int64_t>(scratch_bytes_));
    scratch_bytes_ += (bytes + 255) / 256 * 256;
    return {Address::Base::block, static_cast<std::int32_t>(offsets_.size()) - 1, 0};
  }
  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override {
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    commands_.push_back({Launch(sources_.size(), grid, arguments), 0});
    sources_.push_back(source);
  }
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address>) override {
    launch(kernel->alone(), {.blocks = blocks}, std::move(arguments));
  }
  void call(LibraryCall call) override { commands_.push_back({std::move(call), 0}); }
  void fill_zero(const Address& where, std::size_t bytes) override { commands_.push_back({Fill{where, bytes}, 0}); }

  // Alternatives are given views, and nothing of the program.
  const ir::TensorType& type_of(ir::Ref) const override { return no_type_; }
  View read(ir::Ref) override { return {}; }
  const ir::Constant* constant(ir::Ref) override { return nullptr; }
  View result(ir::Ref) override { return {}; }
  Address report_index(std::int64_t, std::int32_t) override { return {}; }
  Address report(std::function<Status(std::int64_t)>) override { return {}; }
  void allow_in_place(const View&, ir::Ref) override {}
  bool allows_tf32() const override { return false; }  // what is tried has asked before

  std::size_t scratch_bytes() const { return scratch_bytes_; }
  // The trial's blocks: the operands, the results and the scratch memory.
  Result<double> seconds(const Trial& trial, std::size_t operand_count, std::size_t result_count) {
    BURN_TRY(const auto kernels, target_.device().kernels(sources_));
    Bindings at;
    at.inputs = trial.blocks().first(operand_count);
    at.outputs = trial.blocks().subspan(operand_count, result_count);
    at.blocks = offsets_;
    at.arena = trial[operand_count + result_count];
    return trial.seconds([&](CUstream stream) { return enqueue(commands_, kernels, at, stream); });
  }

 private:
  CudaTarget target_;
  std::vector<Command> commands_;
  std::vector<KernelSource> sources_;
  std::vector<std::int64_t> offsets_;
  std::size_t scratch_bytes_ = 0;
  const ir::TensorType no_type_;
};

// The operands and the results, each at the front of a block, as an alternative under trial sees them.
struct TrialViews {
  std::vector<std::size_t> sizes;  // filled in as the others are made
  std::vector<View> operands, results;

  TrialViews(std::span<const View> operands_of_op, std::span<const View> results_of_op)
      : operands(moved(operands_of_op, Address::Base::input)), results(moved(results_of_op, Address::Base::output)) {}

 private:
  std::vector<View> moved(std::span<const View> views, Address::Base base) {
    std::vector<View> all;
    for (auto view : views) {
      sizes.push_back(bytes_of(view));
      view.address = {base, static_cast<std::int32_t>(all.size()), 0};
      all.push_back(view);
    }
    return all;
  }
};

}  // namespace

Status emit_fastest(Emitter& emit, const std::string& key, std::span<const View> operands,
                    std::span<const View> results, std::span<const Alternative> alternatives) {
  std::size_t first = 0;
  if (auto* choices = device_of(emit).choices(); choices && alternatives.size() > 1) {
    const TrialViews views(operands, results);
    std::vector<std::string_view> names;
    for (const auto& alternative : alternatives) names.push_back(alternative.name);
    first = static_cast<std::size_t>(choices->choose_timed(key, names, [&](int i) -> Result<double> {
      TrialEmitter trial_emit(device_of(emit));
      BURN_RETURN_IF_ERROR(alternatives[static_cast<std::size_t>(i)].emit(trial_emit, views.operands, views.results));
      auto sizes = views.sizes;
      sizes.push_back(trial_emit.scratch_bytes());
      const Trial trial(sizes);
      return trial_emit.seconds(trial, operands.size(), results.size());
    }));
  }
  Status status = alternatives[first].emit(emit, operands, results);
  for (std::size_t i = 0; i < alternatives.size() && !status.ok(); ++i) {
    if (i != first) status = alternatives[i].emit(emit, operands, results);
  }
  return status;
}

}  // namespace burn::backends::cuda
