// Runs of programs: their arguments and their commands.
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "backends/cuda/device/enqueue.h"
#include "backends/cuda/device/libraries.h"
#include "backends/cuda/driver/capture.h"
#include "backends/cuda/runtime/bound_run.h"
#include "backends/cuda/runtime/cuda_stream.h"
#include "backends/failures.h"
#include "backends/gpu/device_run.h"
#include "backends/run_args.h"
#include "ir/node_errors.h"

namespace burn::backends::cuda {
namespace {

bool is_failed(const Failure& failure) { return failure != nullptr; }

// Sets the failure of outputs that have none yet.
void fail_the_rest(std::vector<Failure>& failures, const Status& why) {
  const auto failure = std::make_shared<const Status>(why);
  std::ranges::replace_if(failures, std::not_fn(is_failed), failure);
}

void drop_failed_outputs(RunResult& result, std::size_t count) {
  result.outputs.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    if (result.failures[k]) result.outputs[k] = nullptr;
  }
  if (std::ranges::none_of(result.failures, is_failed)) result.failures.clear();
}

}  // namespace

Status CudaStream::enqueue(const CudaExecutable& executable, const RunMemory& memory,
                           const std::vector<bool>& left_out) {
  const BoundRun at(executable.lowered(), memory);
  const auto& commands = executable.lowered().commands;
  const auto& lanes = executable.lanes();
  if (lanes.is_on_side_stream.empty() || !left_out.empty())
    return cuda::enqueue(commands, executable.kernels(), at.bindings(), stream_, left_out);
  if (!side_) {
    BURN_TRY(side_, SideStream::open());
  }
  return side_->enqueue(lanes, stream_, [&](std::size_t i, CUstream on) {
    return cuda::enqueue(commands[i], executable.kernels(), at.bindings(), on);
  });
}

Result<CUdeviceptr> CudaStream::Region::at_least(StreamMemory& memory, std::size_t bytes) {
  if (!buffer || buffer->size() < bytes) {
    is_zero = false;
    buffer = nullptr;  // blocks that runs still use are reused by this stream only
    BURN_TRY(buffer, memory.allocate(bytes));
  }
  return buffer->address();
}

Result<RunResult> CudaStream::run(const std::shared_ptr<Executable>& executable, RunArgs args) {
  const auto& program = static_cast<const CudaExecutable&>(*executable);
  BURN_RETURN_IF_ERROR(program.check_args(args));
  auto result = try_run(executable, args);
  if (result.ok() || program.lowered().commits.empty()) return result;
  return ended_early(program.program(), args, result.status(),
                     [this](SharedBytes bytes) { return upload(std::move(bytes)); });
}

Result<RunResult> CudaStream::try_run(const std::shared_ptr<Executable>& executable, RunArgs& args) {
  const auto& program = static_cast<const CudaExecutable&>(*executable);
  if (interrupted_.load(std::memory_order_relaxed)) return cancelled("the run was cancelled: its session ends");
  device_->make_current();
  add_known_failures(args);
  const auto known = args.failures;
  RunResult result{{}, propagate_failures(program.program(), args.failures)};
  result.failures.resize(program.program().outputs.size());
  BURN_RETURN_IF_ERROR(replace_failed_inputs(program, args));
  BURN_RETURN_IF_ERROR(begin_use(args.inputs));
  const bool is_in_groups = !program.collectives().empty();
  std::shared_ptr<RunInGroups> in_groups;
  if (is_in_groups) {
    graphs_.forget_ended_groups();
    BURN_TRY(in_groups, RunInGroups::begin(program, args));
  }

  const auto buffers = output_buffers(
      program, args, result,
      [this](std::size_t bytes) -> Result<BufferPtr> {
        BURN_TRY(auto buffer, memory_->allocate(bytes));
        return BufferPtr(std::move(buffer));
      },
      [this](const BufferPtr& input) { return is_own(cuda(input)); });
  const auto& lowered = program.lowered();
  auto arena = arena_.at_least(*memory_, lowered.arena.bytes);
  if (!lowered.commits.empty() || is_in_groups) {  // must be executed entirely: other members wait for collectives
    const auto none = std::ranges::find(buffers, nullptr);
    if (none != buffers.end()) return *result.failures[static_cast<std::size_t>(none - buffers.begin())];
    if (!arena.ok()) return ir::at_node(arena.status(), program.program().nodes.back());
  }
  const auto left_out = fail_without_memory(program, buffers, result);
  if (!arena.ok()) {
    const auto why = ir::at_node(arena.status(), program.program().nodes.back());
    if (result.failures.empty()) return why;  // no output could report it
    fail_the_rest(result.failures, why);
  }
  const bool is_lost = !result.failures.empty() && std::ranges::all_of(result.failures, is_failed);
  name_program(result.failures, known, args.program);
  if (!is_lost || is_in_groups) {
    BURN_TRY(auto memory, memory_of_run(program, args, buffers, *arena));
    if (is_in_groups) memory.groups = in_groups->groups();
    std::shared_ptr<PinnedBlock> found;
    if (program.findings() > 0) {
      BURN_TRY(found, pinned_->allocate(kReportBytes * program.findings()));
      std::ranges::fill(found->bytes().subspan(kReportBytes * lowered.checks.size()), std::byte{0});
    }
    const auto found_at = found ? reinterpret_cast<CUdeviceptr>(found->bytes().data()) : 0;
    const RunGroupsScope scope(&memory.groups);
    BURN_RETURN_IF_ERROR(launch(program, args, memory, found_at, left_out));
    result.outputs = buffers;
    watch_checks(executable, args, result, std::move(found), std::move(in_groups));
  }
  drop_failed_outputs(result, program.program().outputs.size());
  return result;
}

Status CudaStream::replace_failed_inputs(const CudaExecutable& executable, RunArgs& args) {
  for (std::size_t i = 0; i < args.failures.size(); ++i) {
    if (!args.failures[i]) continue;
    const auto bytes = executable.program().inputs[i].type.num_bytes();
    BURN_TRY(auto buffer, memory_->allocate(bytes));
    if (bytes > 0)
      BURN_RETURN_IF_ERROR(check(driver().cuMemsetD8Async(buffer->address(), 0, bytes, stream_), "cuMemsetD8Async"));
    args.inputs[i] = std::move(buffer);
  }
  return {};
}

Result<RunMemory> CudaStream::memory_of_run(const CudaExecutable& executable, const RunArgs& args,
                                            const std::vector<BufferPtr>& outputs, CUdeviceptr arena) {
  const auto& lowered = executable.lowered();
  RunMemory memory;
  memory.arena = arena;
  // Regions start at a size that hardly any program exceeds, as graphs contain their addresses.
  BURN_TRY(
      memory.bindings,
      bindings_.at_least(*memory_, 16 + 8 * std::max<std::size_t>(args.scalars.size() + lowered.commits.size(), 62)));
  BURN_TRY(memory.failures,
           failures_.at_least(*memory_, kReportBytes * std::max<std::size_t>(lowered.checks.size(), 16)));
  for (const auto& buffer : args.inputs) memory.inputs.push_back({cuda(buffer).address(), buffer->size()});
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const bool is_written = outputs[k] && lowered.outputs[k].shares_input < 0;
    memory.outputs.push_back(is_written ? RunMemory::Operand{cuda(outputs[k]).address(), outputs[k]->size()}
                                        : RunMemory::Operand{});
  }
  return memory;
}

Status CudaStream::launch(const CudaExecutable& executable, const RunArgs& args, const RunMemory& memory,
                          CUdeviceptr found, const std::vector<bool>& left_out) {
  if (!transfer_kernel_.function) {
    BURN_TRY(const auto kernels, device_->kernels(std::span(&Transfers::source(), 1)));
    transfer_kernel_ = kernels[0];
  }
  CapturedRun* captured = nullptr;
  if (left_out.empty()) {
    BURN_TRY(captured, graph_for(executable, memory));
  }
  const auto check_bytes = kReportBytes * executable.lowered().checks.size();
  auto bound = bind(executable, args, memory.bindings);
  const auto run = [&](CUgraphExec graph) -> Status {
    Transfers before, after;
    before.store(memory.bindings, bound.words);
    if (check_bytes > 0 && !failures_.is_zero) before.zero(memory.failures, failures_.buffer->size());
    after.copy_and_zero(found, memory.failures, check_bytes);
    if (check_bytes > 0) failures_.is_zero = false;  // until the run is enqueued completely
    if (graph) {
      captured->add_copies_in(memory, before);
      captured->add_copies_out(memory, after);
    }
    BURN_RETURN_IF_ERROR(before.launch(transfer_kernel_, stream_));
    BURN_RETURN_IF_ERROR(bound.clears.launch(transfer_kernel_, stream_));
    BURN_RETURN_IF_ERROR(graph ? check(driver().cuGraphLaunch(graph, stream_), "cuGraphLaunch")
                               : enqueue(executable, memory, left_out));
    if (graph) counters_->launches.fetch_add(1, std::memory_order_relaxed);
    BURN_RETURN_IF_ERROR(after.launch(transfer_kernel_, stream_));
    if (check_bytes > 0) failures_.is_zero = true;
    return {};
  };
  BURN_RETURN_IF_ERROR(captured ? captured->graph.enqueue(stream_, std::ref(run)) : run(nullptr));
  if (!bound.reports.empty()) completions_.add([reports = std::move(bound.reports)](const Status&) {});
  if (!captured) return {};
  if (captured->graph.needs_no_graph()) captured->drop_slots();
  return {};
}

Result<CapturedRun*> CudaStream::graph_for(const CudaExecutable& executable, const RunMemory& memory) {
  constexpr std::size_t kFewest = 3;  // commands from which on a graph pays
  if (!uses_graphs_ || executable.lowered().commands.size() < kFewest) return nullptr;
  if (auto* known = graphs_.find(executable.id(), memory)) return known;
  if (!can_be_captured(executable.lowered().commands)) return nullptr;
  auto made = graphs_.prepare(executable.id(), memory);
  if (!made) return nullptr;
  BURN_RETURN_IF_ERROR(capture(executable, *made));
  counters_->captures.fetch_add(1, std::memory_order_relaxed);
  return graphs_.keep(executable.id(), std::move(made));
}

Status CudaStream::capture(const CudaExecutable& executable, CapturedRun& run) {
  constexpr std::size_t kFew = 8;  // up to so many commands may be faster without a graph
  // Collectives run in order, and would delay parallel branches.
  if (uses_branches_ && executable.collectives().empty()) {
    auto* const branches = capture_run_branches(executable.lowered(), executable.kernels(), run.memory(), stream_);
    if (branches) run.graph.add(branches);
    if (branches && !times_branches_) return {};
  }
  BURN_TRY(auto* const chain, capture_graph(stream_, [&] { return enqueue(executable, run.memory(), {}); }));
  run.graph.add(chain);
  if (executable.lowered().commands.size() <= kFew) run.graph.add(nullptr);
  return {};
}

}  // namespace burn::backends::cuda
