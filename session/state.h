// What one session owns, and what its calls do to it. Called by the thread that executes the session's calls, one at a
// time: its executor, or a caller whose call is quick; functions that other threads may call say so.
//
// What fails is kept for the next sync. Failed steps of runs and failed writes also leave the reason in the tensors
// they would have made (PoisonedTensors), so that every use of one of those fails for the same, first reason; a read
// that says so has reported it. Where the device finds a failure later, the reason lies in its buffer, to the same
// effect.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "serving/budget.h"
#include "serving/calls.h"
#include "serving/poison.h"
#include "serving/upload.h"
#include "session/group.h"
#include "session/programs.h"
#include "session/stream.h"
#include "session/tensor_table.h"

namespace burn::session {

using serving::StagedUpload;
using serving::WriteCall;

class SessionState {
 public:
  // `stream` and `groups` outlive the state.
  SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, std::shared_ptr<Budget> budget,
               SessionStream& stream, SessionGroups& groups);

  void define(proto::DefineProgram& define, std::optional<PreparedProgram> ahead);
  // What a definition will need, ahead of its turn, on any thread; nothing: its turn will tell why.
  std::optional<PreparedProgram> prepare(const std::shared_ptr<const ir::Program>& program) const {
    return programs_.prepare(program);
  }
  std::optional<PreparedProgram> prepare(const SharedBytes& encoded) const { return programs_.prepare(encoded); }
  // A run of the program waits for its turn.
  void prepare_run(proto::ProgramId id) {
    if (auto* program = programs_.find(id)) programs_.prepare_plan(*program);
  }
  // `queued`: how long its call has waited for its turn.
  void run(const proto::Run& run, std::chrono::nanoseconds queued = {});
  void write(proto::TensorId id, const proto::HostTensor& tensor);
  void begin_upload(proto::TensorId id, const ir::TensorType& type, WriteCall::Parts parts);
  void release(std::span<const proto::TensorId> ids);
  void read(proto::TensorId id, proto::Session::ReadCallback done);

  // Whether the call would be over at once, as far as the last such call tells: nothing to wait for and little to do.
  static constexpr std::size_t kMaxQuickReleases = 64;  // tensors that are released at once
  bool is_quick(const proto::Run& run) const;
  bool is_quick_read(proto::TensorId id) const;
  bool ran_long() const { return ran_long_; }  // the last run that was done

  // Spent on compiling and running programs so far, without what it was waiting for uploads meanwhile. From any thread.
  std::chrono::nanoseconds busy() const { return std::chrono::nanoseconds{busy_.load(std::memory_order_relaxed)}; }

  void clear();  // frees everything

 private:
  using Tensor = SessionTensor;

  void execute(const proto::Run& run, SessionProgram& program, std::chrono::nanoseconds queued);
  // `plan`: that of the program, once there is one.
  Status try_run(const proto::Run& run, SessionProgram& program, Plan::Clock::time_point now, PlanPtr& plan);
  // Looks the inputs up, for all that follows.
  Status check_inputs(const proto::Run& run, const ir::Program& program);
  Status check_releases(const proto::Run& run);
  Status check_outputs(const proto::Run& run, std::size_t count);
  // What the run will take beside its inputs, before any of it is done; `copies`: of donated inputs, made for it.
  // Errors: RESOURCE_EXHAUSTED; nothing has changed.
  Result<Budget::Share> take_memory(const ir::Program& program, std::span<const backends::BufferPtr> copies,
                                    const backends::Executable& executable);
  Status bind_inputs(const proto::Run& run, backends::RunArgs& args);
  Result<std::vector<backends::BufferPtr>> unshared(const ir::Program& program, const backends::RunArgs& args);
  // `memory`: the donated inputs' shares are added to it.
  void give_inputs(const proto::Run& run, const ir::Program& program, std::vector<backends::BufferPtr> copies,
                   backends::RunArgs& args, Budget::Share& memory);
  void keep_outputs(const proto::Run& run, const ir::Program& program, Budget::Share memory,
                    backends::RunResult result);
  // Of a run that failed as a whole: guarded outputs are what they were to replace.
  void keep_state(const proto::Run& run, const SessionProgram& program);
  void fail_outputs(const proto::Run& run, const SessionProgram& program, const Failure& why);
  // Of a run that ended before it was done, or did not begin: the other members of its groups are not to wait for it.
  void end_groups(const SessionProgram* program, const Status& why);
  void count_if_interrupted(const Status& status);
  void count_busy(std::chrono::nanoseconds time);
  void count_collectives(const ir::Program& program);
  backends::BufferPtr buffer_of(Tensor& tensor);
  Status fill(Tensor& tensor);  // with its number, if it is one
  Result<Tensor> make(proto::TensorId id, const proto::HostTensor& tensor);
  Status check_room(std::size_t entries);     // for so many more
  bool is_awaited(proto::TensorId id) const;  // its numbers are still on their way
  bool is_known(proto::TensorId id) const { return tensors_.contains(id) || poisoned_.find(id) != nullptr; }
  // Those of the ids that nothing is known by.
  void poison(proto::TensorId first, std::uint64_t count, const Failure& why);
  void poison_range(proto::TensorId first, std::uint64_t count, const Failure& why);
  bool drop(proto::TensorId id);
  void keep_charged(const backends::BufferPtr& buffer, long ours, Budget::Share share) const;
  std::size_t entries() const { return tensors_.size() + poisoned_.ranges(); }
  Status grow_table(std::size_t entries);
  void shrink_table();

  const std::shared_ptr<Worker> worker_;
  const Quotas quotas_;
  const std::shared_ptr<Budget> budget_;  // outlives whatever is charged to it
  SessionStream& stream_;
  SessionGroups& groups_;
  Budget::HostShare table_;  // of what the tensors take beside their numbers
  TensorTable tensors_;
  std::vector<TensorTable::Found> inputs_;  // of the run that is executed, in its order
  serving::PoisonedTensors poisoned_;
  SessionPrograms programs_;
  Budget::Share kept_;  // of what the stream keeps between runs
  std::uint64_t run_serial_ = 0;
  bool ran_long_ = false;
  std::chrono::nanoseconds waited_{0};  // for uploads, in the call that is executed
  std::atomic<std::chrono::nanoseconds::rep> busy_ = 0;
};

}  // namespace burn::session
