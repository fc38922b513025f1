// Sends a device's calls to its session: definitions of new programs, runs, and releases of tensors. Keeps the errors
// of runs that the session refused.
//
// Guarded by the device's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "client/record/program_table.h"
#include "client/value.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

class Outbox {
 public:
  explicit Outbox(proto::Session& session) : session_(session) {}

  // Sets the program of `run`, after defining it if the session does not know it.
  Status define(const std::shared_ptr<const ir::Program>& program, proto::Run& run);
  Status define(ir::ProgramBuilder& sealed, proto::Run& run);  // empties the builder
  // Sends a run, unless its program was refused (`defined`). If either is refused, reads of the run's outputs fail with
  // that error.
  void send(proto::Run run, Status defined, std::size_t outputs);

  // Releases a tensor that is no longer held, with the next run, or sooner if many or large ones are waiting.
  void release(proto::TensorId id, std::uint64_t bytes);
  void release_with_next_run(proto::TensorId id) { releases_.push_back(id); }
  void send_releases();

  // Whether the tensor's run was refused; check_refused() throws the reason.
  bool is_refused(proto::TensorId id) const { return refused_.contains(id); }
  void check_refused(const Storage& storage) const {
    if (!refused_.empty()) [[unlikely]]
      throw_if_refused(storage.id);
  }
  void forget(proto::TensorId id) {  // the tensor has no owner any more
    if (!refused_.empty()) [[unlikely]]
      refused_.erase(id);
  }

  std::uint64_t programs_defined() const { return programs_defined_; }
  std::uint64_t runs() const { return runs_; }

 private:
  void throw_if_refused(proto::TensorId id) const;
  void bound_programs();

  proto::Session& session_;
  ProgramTable programs_;
  std::unordered_map<proto::TensorId, Status> refused_;
  std::vector<proto::TensorId> releases_;
  std::uint64_t release_bytes_ = 0;
  std::uint64_t programs_defined_ = 0, runs_ = 0;
};

}  // namespace burn::client
