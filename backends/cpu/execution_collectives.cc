// The collectives of a run.
#include <algorithm>
#include <system_error>

#include "backends/collective/collective_thread.h"
#include "backends/cpu/execution.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {

void Execution::run_collectives(std::size_t position) {
  const auto& step = plan_.steps[position];
  const auto& stage = stages_[position];
  auto operands = take_operands(position);
  std::vector<Failure> failures;
  failures.reserve(step.reads.size());
  for (const auto ref : step.reads) failures.push_back(failure_among({&ref, 1}));
  const auto made = CollectiveWork::make(run_, stage.collectives, operands, failures);
  if (!made.ok()) {
    const auto why = failure_of(ir::at_node(made.status(), node(step.node)));
    for (const auto ref : step.results) fail(ref, why);
    return;
  }
  const auto& work = *made;
  auto* const thread = work->member().thread();
  if (thread && stage.collectives_end > position + 1) {
    // Added before it begins, so that it is always waited for.
    auto& one = pending_collectives_.emplace_back(PendingCollective{position, work});
    try {
      one.number = thread->begin([work, interrupt = InterruptScope::current()] {
        const InterruptScope scope(interrupt);
        work->perform();
      });
      return;
    } catch (const std::system_error&) {  // NOLINT: no thread is to be had: this one performs it
      pending_collectives_.pop_back();
    }
  }
  if (thread) thread->wait();  // collectives that were begun before must be done first
  work->perform();
  finish_collectives(position, *work);
}

void Execution::finish_collectives(std::size_t position, CollectiveWork& work) {
  const auto& step = plan_.steps[position];
  for (std::size_t k = 0; k < step.results.size(); ++k) {
    auto result = work.take(k);
    if (result.ok())
      keep(step.results[k], *std::move(result));
    else
      fail(step.results[k],
           failure_of(ir::at_node(result.status(), node(step.bucket.empty() ? step.node : step.bucket[k]))));
  }
}

void Execution::finish_collectives_before(std::size_t position) {
  const auto is_due = [&](const PendingCollective& one) { return stages_[one.position].collectives_end < position; };
  while (std::ranges::any_of(pending_collectives_, is_due)) {  // in order: earlier ones are done first anyway
    const auto first = std::move(pending_collectives_.front());
    pending_collectives_.pop_front();
    first.work->member().thread()->wait(first.number);
    finish_collectives(first.position, *first.work);
  }
}

void Execution::abandon_collectives(const Status& why) {
  for (const auto& one : pending_collectives_) one.work->member().abort(why);
  for (const auto& one : pending_collectives_) one.work->member().thread()->wait(one.number);
  pending_collectives_.clear();
}

}  // namespace burn::backends::cpu
