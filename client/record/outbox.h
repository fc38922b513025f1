// What a device tells its session: programs that it does not know yet, runs, and tensors that are not held any more.
// And what becomes of a run that the session would not take.
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

  // Names the program of a run, which the session is told if it does not know it.
  Status define(const std::shared_ptr<const ir::Program>& program, proto::Run& run);
  Status define(ir::ProgramBuilder& sealed, proto::Run& run);  // empties the builder
  // Unless its program was refused (`defined`). What the run would have made is refused for the same reason, or for the
  // run's own.
  void send(proto::Run run, Status defined, std::size_t outputs);

  // A tensor that is not held any more is released with the next run, or before, when there is much of it.
  void release(proto::TensorId id, std::uint64_t bytes);
  void release_with_next_run(proto::TensorId id) { releases_.push_back(id); }
  void send_releases();

  // Whether the session will never have this tensor; check_refused() throws why.
  bool is_refused(proto::TensorId id) const { return refused_.contains(id); }
  void check_refused(const Storage& storage) const {
    if (!refused_.empty()) [[unlikely]]
      throw_if_refused(storage.id);
  }
  void forget(proto::TensorId id) {  // it cannot be asked for any more
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
