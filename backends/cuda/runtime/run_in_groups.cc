#include "backends/cuda/runtime/run_in_groups.h"

#include <utility>

#include <fmt/format.h>

#include "ir/node_errors.h"

namespace burn::backends::cuda {
namespace {

// Checks that the program was made for this member.
Status check_member(const ir::Op& op, const NcclGroup& group) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> Status {
        if constexpr (requires { kind.member; }) {
          if (kind.sizes.rank() != group.size() || kind.member != group.rank()) {
            return failed_precondition(fmt::format("the program is of member {} of {}, the session is member {} of {}",
                                                   kind.member, kind.sizes.rank(), group.rank(), group.size()));
          }
        }
        return {};
      },
      op);
}

std::int64_t group_of(const ir::Op& op) {
  return std::visit(
      [](const auto& kind) -> std::int64_t {
        if constexpr (requires { kind.group; }) return kind.group;
        return -1;
      },
      op);
}

}  // namespace

Result<std::shared_ptr<RunInGroups>> RunInGroups::begin(const CudaExecutable& executable, const RunArgs& args) {
  std::shared_ptr<RunInGroups> run(new RunInGroups);
  for (const auto* node : executable.collectives()) {
    if (const auto joined = run->join(*node, args); !joined.ok()) return ir::at_node(joined, *node);
  }
  return run;
}

Status RunInGroups::join(const ir::Node& node, const RunArgs& args) {
  const auto number = group_of(node.op);
  auto found = groups_.find(number);
  if (found == groups_.end()) {
    const auto member = args.groups ? args.groups->find(number) : nullptr;
    if (!member) return failed_precondition(fmt::format("this session is in no group {}", number));
    auto group = std::dynamic_pointer_cast<NcclGroup>(member);
    if (!group) return failed_precondition(fmt::format("group {} is none of GPUs", number));
    BURN_RETURN_IF_ERROR(group->begin_run(args.time_limit));
    found = groups_.emplace(number, std::move(group)).first;
  }
  return check_member(node.op, *found->second);
}

Status RunInGroups::end() {
  Status first;
  if (std::exchange(has_ended_, true)) return first;
  for (const auto& [number, group] : groups_) {
    auto ended = group->end_run();
    if (first.ok()) first = std::move(ended);
  }
  return first;
}

}  // namespace burn::backends::cuda
