#include "backends/cpu/kernels/collective_work.h"

#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "backends/cpu/kernels/copy.h"

namespace burn::backends::cpu {

Result<std::shared_ptr<CollectiveWork>> CollectiveWork::make(Run& run, std::span<const CollectiveNode> nodes,
                                                             std::span<Array> operands,
                                                             std::span<const Failure> failures) {
  const auto group = nodes.front().group;
  auto member = run.groups ? run.groups->find(group) : nullptr;
  if (!member) return failed_precondition(fmt::format("this session is in no group {}", group));
  std::shared_ptr<CollectiveWork> work(new CollectiveWork(std::move(member), nodes));
  for (std::size_t k = 0; k < nodes.size(); ++k) work->parts_[k].why = work->prepare(run, k, operands[k], failures[k]);
  return work;
}

Status CollectiveWork::prepare(Run& run, std::size_t k, Array& operand, const Failure& failure) {
  auto& part = parts_[k];
  if (failure) return *failure;
  BURN_TRY(part.operand, contiguous(run, operand));
  operand = Array();
  if (std::holds_alternative<ir::AllReduce>(nodes_[k].op) && may_overwrite(part.operand)) {
    part.result = part.operand;
    return {};
  }
  BURN_TRY(part.result, run.allocate(nodes_[k].result));
  return {};
}

void CollectiveWork::perform() noexcept {
  const auto end = [&](const Status& why) {
    member_->abort(why);
    for (auto& part : parts_) part.why = why;
  };
  try {
    std::vector<CollectiveCall> calls;
    calls.reserve(nodes_.size());
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const auto& node = nodes_[k];
      auto& [operand, result, why] = parts_[k];
      if (why.ok())
        calls.push_back(
            {node.op, node.operand, {operand.data(), operand.num_bytes()}, {result.data(), result.num_bytes()}});
      else
        calls.push_back({node.op, node.operand, {}, {}, std::make_shared<const Status>(why)});
    }
    std::vector<Status> done;
    if (calls.size() == 1)
      done.push_back(member_->perform(calls[0]));
    else
      done = member_->perform_together(calls);
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
      const bool has_operand = parts_[k].why.ok();
      parts_[k].why = done[k].ok() && !has_operand ? internal_error("a member without an operand has a result")
                                                   : std::move(done[k]);
    }
  } catch (const std::bad_alloc&) {
    end(resource_exhausted("out of memory"));
  } catch (const std::exception& error) {
    end(internal_error(error.what()));
  }
}

Result<Array> CollectiveWork::take(std::size_t k) {
  auto& part = parts_[k];
  part.operand = Array();
  BURN_RETURN_IF_ERROR(part.why);
  return std::move(part.result);
}

}  // namespace burn::backends::cpu
