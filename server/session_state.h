// What one session owns, and what its calls do to it. Everything here happens on the session's executor thread.
//
// Each call returns how it failed, if it did. Failed runs and writes leave the reason in the tensors they would have
// made, so that whoever needs one of those fails for the same, first reason.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <unordered_map>
#include <variant>

#include "server/budget.h"
#include "server/local_session.h"
#include "server/plan_cache.h"
#include "server/upload.h"

namespace burn::server {

class SessionState {
 public:
  // `budget` outlives the state.
  SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, Budget& budget);

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program);
  Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why);
  Status run(const proto::Run& run);
  Status write(proto::TensorId id, const proto::HostTensor& tensor);
  // `failed`: why there is no upload.
  Status begin_upload(proto::TensorId id, const ir::TensorType& type, std::shared_ptr<Upload> upload,
                      Budget::Share share, Status failed);
  Status release(std::span<const proto::TensorId> ids);
  Result<proto::HostTensor> read(proto::TensorId id);

  // Whether the call would be over at once, as far as the last such call tells: nothing to wait for and little to do.
  static constexpr std::size_t kMaxQuickReleases = 64;  // tensors that are released at once
  bool is_quick(const proto::Run& run) const;
  bool is_quick_read(proto::TensorId id) const;

  void clear();  // frees everything

 private:
  using Poison = std::shared_ptr<const Status>;
  struct Tensor {
    ir::TensorType type;
    Budget::Share share;
    std::variant<backends::BufferPtr, std::shared_ptr<Upload>, Poison> content;
    std::uint64_t used_by = 0;  // the run that last named it among its inputs, and
    bool donated_to = false;    // whether it was given to it
  };
  struct Program {
    std::shared_ptr<const ir::Program> ir;  // null: invalid
    PlanPtr plan;
    Status invalid;  // why its runs fail
    std::size_t output_count = 0;
    std::chrono::nanoseconds took = std::chrono::nanoseconds::max();  // its last run that went well
  };

  Status add_program(proto::ProgramId id, Program program, std::size_t nodes);
  Status try_run(const proto::Run& run, const Program& program);
  Status check_inputs(const proto::Run& run, const ir::Program& program);
  Status check_releases(const proto::Run& run);
  Status check_outputs(const proto::Run& run, std::size_t count) const;
  Result<std::vector<backends::BufferPtr>> bind_inputs(const proto::Run& run, const ir::Program& program);
  Result<backends::BufferPtr> buffer_of(Tensor& tensor);
  Result<backends::BufferPtr> unshared(backends::BufferPtr buffer, std::size_t bytes);
  Result<backends::BufferPtr> upload(std::span<const std::byte> bytes);
  Result<Tensor*> find(proto::TensorId id);
  Status check_new(proto::TensorId id) const;
  bool is_awaited(proto::TensorId id) const;  // its numbers are still on their way
  void poison(proto::TensorId id, Poison why);
  bool drop(proto::TensorId id);

  const std::shared_ptr<Worker> worker_;
  const Quotas quotas_;
  Budget& budget_;
  std::unordered_map<proto::TensorId, Tensor> tensors_;
  std::unordered_map<proto::ProgramId, Program> programs_;
  std::size_t nodes_ = 0;  // of all programs
  std::uint64_t run_serial_ = 0;
  std::chrono::nanoseconds read_took_ = std::chrono::nanoseconds::max();  // the last small read
};

}  // namespace burn::server
