// A Session that executes nothing and records the calls that it receives: programs, runs, writes, reads, releases.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "proto/session.h"

namespace burn::test {

// The calls that a RecordingSession has received. Outlives the session, so that tests can read it afterwards.
struct RecordedCalls {
  std::mutex mutex;
  std::map<proto::ProgramId, std::shared_ptr<const ir::Program>> programs;
  std::vector<proto::Run> runs;
  std::vector<proto::TensorId> written, released, read;
  std::vector<std::optional<std::int32_t>> batch_axes;  // of each write
  std::vector<proto::ProgramId> forgotten;
  int defines = 0, closes = 0;
  proto::SessionTraits traits = {};                                         // set before the session is used
  std::optional<std::chrono::steady_clock::time_point> announced_end = {};  // returned by announced_end()

  const ir::Program& program_of(std::size_t run) { return *programs.at(runs.at(run).program); }
};

class RecordingSession : public proto::Session {
 public:
  explicit RecordingSession(std::shared_ptr<RecordedCalls> calls) : calls_(std::move(calls)) {}

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return calls_->traits; }
  std::optional<std::chrono::steady_clock::time_point> announced_end() override { return calls_->announced_end; }
  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    const std::lock_guard lock(calls_->mutex);
    calls_->programs[id] = std::move(program);
    calls_->forgotten.insert(calls_->forgotten.end(), forget.begin(), forget.end());
    calls_->defines += 1;
    return ok_status();
  }
  Status run(proto::Run run) override {
    const std::lock_guard lock(calls_->mutex);
    for (const auto id : run.release) calls_->released.push_back(id);
    const auto& program = *calls_->programs.at(run.program);
    for (std::size_t k = 0; k < program.outputs.size(); ++k)
      types_[run.first_output + k] = program.type_of(program.outputs[k]);
    calls_->runs.push_back(std::move(run));
    return ok_status();
  }
  Status write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) override {
    const std::lock_guard lock(calls_->mutex);
    types_[id] = tensor.type;
    calls_->written.push_back(id);
    calls_->batch_axes.push_back(options.batch_axis);
    return ok_status();
  }
  Status release(std::vector<proto::TensorId> ids) override {
    const std::lock_guard lock(calls_->mutex);
    calls_->released.insert(calls_->released.end(), ids.begin(), ids.end());
    return ok_status();
  }
  // Every tensor reads as zeros.
  void read(proto::TensorId id, ReadCallback done) override {
    ir::TensorType type{ir::DType::f32, {1}};
    {
      const std::lock_guard lock(calls_->mutex);
      calls_->read.push_back(id);
      if (const auto known = types_.find(id); known != types_.end()) type = known->second;
    }
    done(proto::HostTensor{type, SharedBytes::own(std::vector<std::byte>(type.num_bytes()))});
  }
  void sync(SyncCallback done) override { done(ok_status()); }
  void close() override {
    const std::lock_guard lock(calls_->mutex);
    calls_->closes += 1;
  }

 private:
  std::shared_ptr<RecordedCalls> calls_;
  std::map<proto::TensorId, ir::TensorType> types_;
  proto::SessionInfo info_;
};

}  // namespace burn::test
