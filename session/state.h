// The state of one session, and the effects of its calls. Used by one thread at a time, which executes the session's
// calls: its executor, or a caller whose call is quick; functions for other threads say so.
//
// Failures are kept for the next sync. Failed steps of runs and failed writes also poison the tensors they would have
// made (PoisonedTensors), so that every use of one fails for the same, first reason; a read that returns the reason has
// reported it. If the device finds a failure later, the buffer has the reason, to the same effect.
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
  // `stream` and `groups` must outlive the state.
  SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, std::shared_ptr<Budget> budget,
               SessionStream& stream, SessionGroups& groups);

  void define(proto::DefineProgram& define, std::optional<PreparedProgram> ahead);
  // Prepares a definition ahead of its turn, on any thread; std::nullopt on failure, which define() will report.
  std::optional<PreparedProgram> prepare(const std::shared_ptr<const ir::Program>& program) const {
    return programs_.prepare(program);
  }
  std::optional<PreparedProgram> prepare(const SharedBytes& encoded) const { return programs_.prepare(encoded); }
  // Call when a run of the program is waiting.
  void prepare_run(proto::ProgramId id) {
    if (auto* program = programs_.find(id)) programs_.prepare_plan(*program);
  }
  // `queued`: how long its call has waited in the queue.
  void run(const proto::Run& run, std::chrono::nanoseconds queued = {});
  void write(proto::TensorId id, const proto::HostTensor& tensor);
  void begin_upload(proto::TensorId id, const ir::TensorType& type, WriteCall::Parts parts);
  void release(std::span<const proto::TensorId> ids);
  void read(proto::TensorId id, proto::Session::ReadCallback done);

  // Whether the call will probably take only microseconds, judging by the last such call: it need not wait and does
  // little.
  static constexpr std::size_t kMaxQuickReleases = 64;  // tensors released by one call
  bool is_quick(const proto::Run& run) const;
  bool is_quick_read(proto::TensorId id) const;
  bool ran_long() const { return ran_long_; }  // the last successful run

  // Time spent on compiling and running programs so far, without waiting for uploads. From any thread.
  std::chrono::nanoseconds busy() const { return std::chrono::nanoseconds{busy_.load(std::memory_order_relaxed)}; }

  void clear();  // frees everything

 private:
  using Tensor = SessionTensor;

  void execute(const proto::Run& run, SessionProgram& program, std::chrono::nanoseconds queued);
  // Sets `plan` to the program's plan, once it has one.
  Status try_run(const proto::Run& run, SessionProgram& program, Plan::Clock::time_point now, PlanPtr& plan);
  // Also looks up the inputs and stores them in inputs_ for the functions below.
  Status check_inputs(const proto::Run& run, const ir::Program& program);
  Status check_releases(const proto::Run& run);
  Status check_outputs(const proto::Run& run, std::size_t count);
  // Charges the memory that the run needs in addition to its inputs, before it begins; `copies`: its copies of donated
  // inputs. Errors: RESOURCE_EXHAUSTED; nothing has changed then.
  Result<Budget::Share> take_memory(const ir::Program& program, std::span<const backends::BufferPtr> copies,
                                    const backends::Executable& executable);
  Status bind_inputs(const proto::Run& run, backends::RunArgs& args);
  Result<std::vector<backends::BufferPtr>> copy_shared_inputs(const ir::Program& program,
                                                              const backends::RunArgs& args);
  // Adds the donated inputs' shares to `memory`.
  void consume_donated_inputs(const proto::Run& run, const ir::Program& program,
                              std::vector<backends::BufferPtr> copies, backends::RunArgs& args, Budget::Share& memory);
  void keep_outputs(const proto::Run& run, const ir::Program& program, Budget::Share memory,
                    backends::RunResult result);
  // For a run that failed as a whole: guarded outputs get the values that they were to replace.
  void keep_guarded_outputs(const proto::Run& run, const SessionProgram& program);
  void fail_outputs(const proto::Run& run, const SessionProgram& program, const Failure& why);
  // Aborts the groups of a run that ended early or did not begin, so that their other members do not wait for it.
  void end_groups(const SessionProgram* program, const Status& why);
  void count_if_interrupted(const Status& status);
  void count_busy(std::chrono::nanoseconds time);
  void count_collectives(const ir::Program& program);
  backends::BufferPtr buffer_of(Tensor& tensor);
  Status fill(Tensor& tensor);  // makes its buffer, if it is a Constant
  Result<Tensor> make(proto::TensorId id, const proto::HostTensor& tensor);
  Status check_room(std::size_t entries);       // for this many more
  bool is_uploading(proto::TensorId id) const;  // it is still being uploaded
  bool is_known(proto::TensorId id) const { return tensors_.contains(id) || poisoned_.find(id) != nullptr; }
  // Poisons those of the ids that are not in use.
  void poison(proto::TensorId first, std::uint64_t count, const Failure& why);
  void poison_range(proto::TensorId first, std::uint64_t count, const Failure& why);
  bool drop(proto::TensorId id);
  void charge_buffer(const backends::BufferPtr& buffer, long ours, Budget::Share share) const;
  std::size_t entries() const { return tensors_.size() + poisoned_.ranges(); }
  Status grow_table(std::size_t entries);
  void shrink_table();

  const std::shared_ptr<Worker> worker_;
  const Quotas quotas_;
  const std::shared_ptr<Budget> budget_;  // must outlive the shares charged to it
  SessionStream& stream_;
  SessionGroups& groups_;
  Budget::HostShare table_;  // for the tensors' memory other than their data
  TensorTable tensors_;
  std::vector<TensorTable::Found> inputs_;  // inputs of the current run, in its order
  serving::PoisonedTensors poisoned_;
  SessionPrograms programs_;
  Budget::Share kept_;  // for memory that the stream keeps between runs
  std::uint64_t run_serial_ = 0;
  bool ran_long_ = false;
  std::chrono::nanoseconds waited_{0};  // for uploads, in the current call
  std::atomic<std::chrono::nanoseconds::rep> busy_ = 0;
};

}  // namespace burn::session
