// Runs with collectives, which the host performs between the parts of a program on operands copied to host memory.
#include <cstring>

#include <fmt/format.h>

#include "backends/collective/collective.h"
#include "backends/failures.h"
#include "backends/vulkan/runtime/recorder.h"
#include "backends/vulkan/runtime/vulkan_stream.h"
#include "ir/node_errors.h"

namespace burn::backends::vulkan {
namespace {

std::int64_t group_of(const ir::Op& op) {
  return std::visit(
      [](const auto& kind) -> std::int64_t {
        if constexpr (requires { kind.group; })
          return kind.group;
        else
          return 0;
      },
      op);
}

Result<std::shared_ptr<Collective>> member_of(const ir::Op& op, const RunArgs& args) {
  const auto group = group_of(op);
  auto member = args.groups ? args.groups->find(group) : nullptr;
  if (!member) return failed_precondition(fmt::format("this session is in no group {}", group));
  return member;
}

Status perform(const HostCollective& what, const RunArgs& args, std::span<const std::byte> operand,
               std::span<std::byte> result, Failure failed) {
  BURN_TRY(const auto member, member_of(what.op, args));
  if (!failed) return member->perform({what.op, what.type, operand, result});
  const auto status = member->perform({what.op, what.type, {}, {}, std::move(failed)});
  return status.ok() ? internal_error("a member without an operand has a result") : status;
}

// Why a collective's operand is missing: an input that failed, or a check that has failed.
Failure failure_of_operand(const VulkanExecutable& program, std::size_t k, const RunArgs& args,
                           std::span<const std::byte> found) {
  const auto& inputs = program.inputs_of_collective(k);
  for (std::size_t i = 0; i < args.failures.size(); ++i) {
    if (args.failures[i] && inputs[i]) return args.failures[i];
  }
  const auto& checks = program.checks_of_collective(k);
  for (std::size_t c = 0; c < checks.size(); ++c) {
    if (!checks[c]) continue;
    std::int64_t number_and_mark[2] = {};
    std::memcpy(number_and_mark, found.data() + kReportBytes * c, sizeof number_and_mark);
    if (number_and_mark[1] == 0) continue;
    const auto& check = program.lowered().checks[c];
    const auto& node = program.program().nodes[static_cast<std::size_t>(check.node)];
    return std::make_shared<const Status>(ir::at_node(check.explain(number_and_mark[0]), node));
  }
  return nullptr;
}

}  // namespace

Piece VulkanStream::piece_of(const VulkanExecutable& program, const RunArgs& args,
                             const std::vector<BufferPtr>& outputs, const compile::Address& address) const {
  const auto index = static_cast<std::size_t>(address.index);
  Piece piece;
  switch (address.base) {
    case compile::Address::Base::input:
      piece = vulkan(args.inputs[index]).piece();
      break;
    case compile::Address::Base::output:
      piece = vulkan(outputs[index]).piece();
      break;
    default:
      piece = arena_.at(static_cast<std::uint64_t>(program.lowered().arena.offsets[index]));
      break;
  }
  piece.offset += static_cast<std::uint64_t>(address.offset);
  return piece;
}

void VulkanStream::copy_with_barriers(VkCommandBuffer commands, const Piece& from, const Piece& to,
                                      std::uint64_t bytes) const {
  if (bytes == 0) return;
  const auto& vk = timeline_->device().vk();
  constexpr VkAccessFlags kAll = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  add_barrier(vk, commands, kStages, kAll, kStages, kAll);
  const VkBufferCopy region{.srcOffset = from.offset, .dstOffset = to.offset, .size = bytes};
  vk.CmdCopyBuffer(commands, from.page->buffer, to.page->buffer, 1, &region);
  add_barrier(vk, commands, kStages, kAll, kStages, kAll);
}

void VulkanStream::take_part_as_failed(const VulkanExecutable& program, const RunArgs& args, const Status& why) {
  const InterruptScope scope(&interrupt_);
  interrupt_.begin_run(args.time_limit);
  const auto failed = std::make_shared<const Status>(why);
  for (const auto& part : program.parts()) {
    // Tells the others. Their answers no longer matter: this run has failed.
    if (part.collective) (void)perform(*part.collective, args, {}, {}, failed);
  }
}

// The state of a run while its parts are enqueued.
struct VulkanStream::GroupRun {
  const VulkanExecutable& program;
  const RunArgs& args;
  const std::vector<BufferPtr>& outputs;
  const RunTable& table;
  const std::size_t clears;                // number of words that the first part clears
  const HostCollective* before = nullptr;  // the collective performed before the part,
  std::shared_ptr<SharedBlock> arrived;    // and its result
};

Result<std::shared_ptr<SharedBlock>> VulkanStream::enqueue_part(const GroupRun& run, std::size_t part) {
  const auto& collective = run.program.parts()[part].collective;
  std::shared_ptr<SharedBlock> operand;
  if (collective) {
    BURN_TRY(operand, host_->allocate(collective->type.num_bytes()));
  }
  BURN_TRY(auto* const commands, commands_->begin(true));
  const auto piece = [&](const compile::Address& address) {
    return piece_of(run.program, run.args, run.outputs, address);
  };
  if (run.before)
    copy_with_barriers(commands, run.arrived->piece(), piece(run.before->result), run.before->result_bytes);
  Recorder recorder(timeline_->device(), commands, run.table.address());
  if (part == 0) {
    recorder.copy_table(run.table, Recordings::table_bytes(run.program, run.clears));
    recorder.clear_words(run.program, run.clears);
  }
  recorder.add_levels(run.program, run.program.parts()[part].levels, {});
  recorder.copy_reports(run.program);
  if (collective)
    copy_with_barriers(commands, piece(collective->operand), operand->piece(), collective->type.num_bytes());
  auto status = commands_->end(commands, true);
  if (status.ok()) status = timeline_->submit(commands, part == 0 ? uploads_of(run.args.inputs) : Await{});
  commands_->give_back(commands);
  if (status.ok() && collective) status = timeline_->wait(timeline_->submitted());
  BURN_RETURN_IF_ERROR(status);
  return operand;
}

Status VulkanStream::launch_in_groups(const VulkanExecutable& program, const RunArgs& args, RunResult& result,
                                      const std::vector<BufferPtr>& outputs, SharedBlock* found) {
  const InterruptScope scope(&interrupt_);
  interrupt_.begin_run(args.time_limit);
  for (const auto* node : program.collectives()) {
    if (auto member = member_of(node->op, args); !member.ok()) return ir::at_node(member.status(), *node);
  }
  const auto bound = bind(program, args);
  const auto table = tables_.allocate(Recordings::table_bytes(program, bound.clears.size()));
  if (!table.ok()) {
    take_part_as_failed(program, args, table.status());
    return table.status();
  }
  write_table(program, args, outputs, bound, found, *table, bound.clears.size());

  Status failure;  // of the first collective that failed, or of the device
  GroupRun run{program, args, outputs, *table, bound.clears.size(), nullptr, nullptr};
  for (std::size_t p = 0; p < program.parts().size(); ++p) {
    const auto& part = program.parts()[p];
    std::shared_ptr<SharedBlock> operand;
    if (failure.ok()) {
      auto enqueued = enqueue_part(run, p);
      failure = enqueued.status();
      if (enqueued.ok()) operand = *std::move(enqueued);
    }
    if (!part.collective) break;
    Failure failed =
        failure.ok() ? failure_of_operand(program, p, args, found->bytes()) : std::make_shared<const Status>(failure);
    if (!failed) {
      auto block = host_->allocate(part.collective->result_bytes);
      if (block.ok())
        run.arrived = *std::move(block);
      else
        failed = std::make_shared<const Status>(block.status());
    }
    const auto performed = failed ? perform(*part.collective, args, {}, {}, failed)
                                  : perform(*part.collective, args, operand->bytes(), run.arrived->bytes(), nullptr);
    if (!performed.ok() && failure.ok()) failure = ir::at_node(performed, *program.collectives()[p]);
    run.before = &*part.collective;
  }
  completions_.add([table = *table, arrived = run.arrived, reports = bound.reports](const Status&) {});
  if (failure.ok()) return {};
  const auto known = result.failures;
  const auto why = std::make_shared<const Status>(std::move(failure));
  for (auto& of_output : result.failures) {
    if (!of_output) of_output = why;
  }
  name_program(result.failures, known, args.program);
  return {};
}

}  // namespace burn::backends::vulkan
