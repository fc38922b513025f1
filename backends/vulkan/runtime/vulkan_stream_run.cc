// Runs of programs: their arguments and their commands.
#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "backends/failures.h"
#include "backends/gpu/device_run.h"
#include "backends/vulkan/runtime/recorder.h"
#include "backends/vulkan/runtime/vulkan_stream.h"
#include "ir/node_errors.h"

namespace burn::backends::vulkan {
namespace {

// Why a run that must be executed entirely cannot be: an output or the arena has no memory.
Status missing_memory(const VulkanExecutable& program, const std::vector<BufferPtr>& outputs, const RunResult& result,
                      const Status& arena) {
  if (!arena.ok()) return ir::at_node(arena, program.program().nodes.back());
  const auto none = std::ranges::find(outputs, nullptr);
  return none == outputs.end() ? Status{} : *result.failures[static_cast<std::size_t>(none - outputs.begin())];
}

}  // namespace

Result<RunResult> VulkanStream::run(const std::shared_ptr<Executable>& executable, RunArgs args) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  BURN_RETURN_IF_ERROR(program.check_args(args));
  auto result = try_run(executable, args);
  if (result.ok() || program.lowered().commits.empty()) return result;
  return ended_early(program.program(), args, result.status(),
                     [this](SharedBytes bytes) { return upload(std::move(bytes)); });
}

Result<RunResult> VulkanStream::try_run(const std::shared_ptr<Executable>& executable, RunArgs& args) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  if (interrupt_.is_requested()) return cancelled("the run was cancelled: its session ends");
  add_known_failures(args);
  const auto known = args.failures;
  RunResult result{{}, propagate_failures(program.program(), args.failures)};
  result.failures.resize(program.program().outputs.size());
  BURN_RETURN_IF_ERROR(replace_failed_inputs(program, args));
  const auto buffers = output_buffers(
      program, args, result,
      [this](std::size_t bytes) -> Result<BufferPtr> {
        BURN_TRY(auto buffer, memory_->allocate(bytes));
        return BufferPtr(std::move(buffer));
      },
      [this](const BufferPtr& input) {
        const auto& of = vulkan(input);
        return of.memory() == memory_.get() || (uploads_ && uploads_->owns(of));
      });
  const auto& lowered = program.lowered();
  const auto arena = arena_.reserve(*memory_, lowered.arena.bytes);
  const bool is_in_groups = !program.collectives().empty();
  if (!lowered.commits.empty() || is_in_groups) {  // must be executed entirely
    const auto missing = missing_memory(program, buffers, result, arena);
    if (!missing.ok() && is_in_groups) take_part_as_failed(program, args, missing);
    if (!missing.ok()) return missing;
  }
  const auto left_out = fail_without_memory(program, buffers, result);
  if (!arena.ok()) {
    const auto why = std::make_shared<const Status>(ir::at_node(arena, program.program().nodes.back()));
    if (result.failures.empty()) return *why;  // no output could report it
    for (auto& failure : result.failures) {
      if (!failure) failure = why;
    }
  }
  const auto is_failed = [](const Failure& failure) { return failure != nullptr; };
  const bool is_lost = !result.failures.empty() && std::ranges::all_of(result.failures, is_failed);
  name_program(result.failures, known, args.program);
  if (!is_lost || is_in_groups) BURN_RETURN_IF_ERROR(enqueue_run(executable, args, buffers, left_out, result));
  result.outputs.resize(program.program().outputs.size());
  for (std::size_t k = 0; k < result.outputs.size(); ++k) {
    if (result.failures[k]) result.outputs[k] = nullptr;
  }
  if (std::ranges::none_of(result.failures, is_failed)) result.failures.clear();
  return result;
}

Status VulkanStream::enqueue_run(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                                 const std::vector<BufferPtr>& outputs, const std::vector<bool>& left_out,
                                 RunResult& result) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  BURN_RETURN_IF_ERROR(program.check_grids(left_out));
  std::shared_ptr<SharedBlock> found;
  if (program.findings() > 0) {
    BURN_TRY(found, host_->allocate(kReportBytes * program.findings()));
    std::ranges::fill(found->bytes(), std::byte{0});
  }
  if (program.collectives().empty())
    BURN_RETURN_IF_ERROR(launch(executable, args, outputs, found.get(), left_out));
  else
    BURN_RETURN_IF_ERROR(launch_in_groups(program, args, result, outputs, found.get()));
  result.outputs = outputs;
  std::shared_ptr<Report> report;
  if (found) {
    report = std::make_shared<Report>(program.findings(), found);
    completions_.add(
        [report, found, executable, number = args.program, serial = args.serial, sink = sink_](const Status& device) {
          publish_findings(static_cast<const VulkanExecutable&>(*executable), *report, found->bytes(), device, Status{},
                           number, serial, sink);
        });
  }
  inherit_outcomes(program, args, report, result);
  return {};
}

Status VulkanStream::replace_failed_inputs(const VulkanExecutable& program, RunArgs& args) {
  for (std::size_t i = 0; i < args.failures.size(); ++i) {
    if (!args.failures[i]) continue;
    const auto bytes = program.program().inputs[i].type.num_bytes();
    BURN_TRY(auto buffer, memory_->allocate(bytes));
    if (bytes > 0) {
      BURN_TRY(auto* const commands, commands_->begin(true));
      const auto& piece = buffer->piece();
      timeline_->device().vk().CmdFillBuffer(commands, piece.page->buffer, piece.offset, piece.bytes, 0);
      auto status = commands_->end(commands, false);
      if (status.ok()) status = timeline_->submit(commands);
      commands_->give_back(commands);
      BURN_RETURN_IF_ERROR(status);
    }
    args.inputs[i] = std::move(buffer);
  }
  return {};
}

// What is already known about a Commit is in its word; checks that the device has not done yet clear the word there.
VulkanStream::Commits VulkanStream::bind(const VulkanExecutable& program, const RunArgs& args) {
  Commits bound{.words = program.binding_words(args)};
  const auto& commits = program.lowered().commits;
  for (std::size_t c = 0; c < commits.size(); ++c) {
    const auto word = program.first_commit_word(args) + c;
    std::set<const Outcome*> seen;
    bool is_sound = true;
    for (std::size_t i = 0; i < commits[c].inputs.size() && is_sound; ++i) {
      if (!commits[c].inputs[i]) continue;
      is_sound = args.failures.empty() || !args.failures[i];
      const auto* const outcome = vulkan(args.inputs[i]).outcome.get();
      if (!is_sound || !outcome || !seen.insert(outcome).second) continue;
      for (const auto& [report, check] : outcome->entries()) {
        auto found = report->found();
        if (!found) {
          is_sound = is_sound && !report->failure(check);
          continue;
        }
        const auto where = static_cast<SharedBlock&>(*found).piece().address();
        bound.clears.push_back({8 * word, where + kReportBytes * check});
        bound.reports.push_back(std::move(found));
      }
    }
    bound.words[word] = is_sound ? 1 : 0;
  }
  return bound;
}

void VulkanStream::write_table(const VulkanExecutable& program, const RunArgs& args,
                               const std::vector<BufferPtr>& outputs, const Commits& bound, const SharedBlock* found,
                               const RunTable& table, std::size_t clears) {
  table_.resize(Recordings::table_bytes(program, clears));
  auto* const at = table_.data();
  std::vector<compile::DeviceAddress> inputs, made;
  for (const auto& input : args.inputs) inputs.push_back(vulkan(input).address());
  for (const auto& output : outputs) made.push_back(output ? vulkan(output).address() : 0);
  compile::Bindings bindings;
  bindings.inputs = inputs;
  bindings.outputs = made;
  const auto blocks = arena_.addresses(program.lowered().arena.offsets);
  bindings.blocks = blocks;
  bindings.bindings = table.address() + program.table().bindings;
  bindings.failures = table.address() + program.table().failures;
  if (found && !program.report_copy()) bindings.failures = found->piece().address();
  program.write_arguments(bindings, at);
  if (!bound.words.empty()) std::memcpy(at + program.table().bindings, bound.words.data(), 8 * bound.words.size());
  std::memset(at + program.table().failures, 0, program.table().bytes - program.table().failures);
  if (found && program.report_copy()) {
    const auto to = found->piece().address();
    std::memcpy(at + program.report_copy()->arguments + 8, &to, sizeof to);
  }
  for (std::size_t k = 0; k < clears; ++k) {
    const auto& clear = bound.clears[std::min(k, bound.clears.size() - 1)];
    const VkDeviceAddress record[2] = {bindings.bindings + clear.word, clear.report};
    std::memcpy(at + program.table().bytes + kClearBytes * k, record, sizeof record);
  }
  if (!table_.empty()) std::memcpy(table.written->bytes().data(), at, table_.size());  // one copy: slow memory
}

Status VulkanStream::launch(const std::shared_ptr<Executable>& executable, const RunArgs& args,
                            const std::vector<BufferPtr>& outputs, SharedBlock* found,
                            const std::vector<bool>& left_out) {
  const auto& program = static_cast<const VulkanExecutable&>(*executable);
  if (program.does_nothing()) return {};
  const auto bound = bind(program, args);
  BURN_TRY(auto recording, recordings_->take(program, left_out, bound.clears.size()));
  write_table(program, args, outputs, bound, found, recording.table, recording.clears);
  BURN_RETURN_IF_ERROR(
      recordings_->submit(executable, std::move(recording), !left_out.empty(), uploads_of(args.inputs)));
  if (!bound.reports.empty()) completions_.add([reports = bound.reports](const Status&) {});
  return {};
}

}  // namespace burn::backends::vulkan
