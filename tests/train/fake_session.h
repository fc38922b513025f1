// A fake Session that computes nothing: it tracks the type of every tensor, returns zeros from every read, and counts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/device.h"
#include "proto/session.h"

namespace burn::test {

// The calls that a FakeSession has received, and how it is to answer them. Outlives the device that uses the session.
struct FakeServer {
  std::mutex mutex;
  std::map<proto::ProgramId, std::shared_ptr<const ir::Program>> programs;
  std::vector<proto::Run> runs;
  std::vector<std::optional<std::int32_t>> batch_axes;  // of each write
  int reads = 0;
  int tensors = 0;     // alive now
  bool fails = false;  // every later read fails
  // Reads and syncs wait in `held` until this many runs have been received.
  std::size_t answers_after = 0;
  std::vector<std::function<void()>> held;

  // Calls `reply` now, or holds it back until `answers_after` runs have been received.
  void answer(std::function<void()> reply) {
    {
      const std::lock_guard lock(mutex);
      if (runs.size() < answers_after) {
        held.push_back(std::move(reply));
        return;
      }
    }
    reply();
  }
  void answer_held() {
    std::vector<std::function<void()>> replies;
    {
      const std::lock_guard lock(mutex);
      if (runs.size() >= answers_after) replies.swap(held);
    }
    for (const auto& reply : replies) reply();
  }
};

class FakeSession : public proto::Session {
 public:
  explicit FakeSession(std::shared_ptr<FakeServer> server) : server_(std::move(server)) {}

  const proto::SessionInfo& info() const override { return info_; }
  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> /*forget*/) override {
    const std::lock_guard lock(server_->mutex);
    server_->programs[id] = std::move(program);
    return ok_status();
  }
  Status run(proto::Run run) override {
    take(std::move(run));
    server_->answer_held();
    return ok_status();
  }
  Status write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) override {
    const std::lock_guard lock(server_->mutex);
    add(id, tensor.type);
    server_->batch_axes.push_back(options.batch_axis);
    return ok_status();
  }
  Status release(std::vector<proto::TensorId> ids) override {
    const std::lock_guard lock(server_->mutex);
    for (const auto id : ids) remove(id);
    return ok_status();
  }
  void read(proto::TensorId id, ReadCallback done) override {
    std::unique_lock lock(server_->mutex);
    server_->reads += 1;
    const auto type = types_.at(id);
    const bool fails = server_->fails;
    lock.unlock();
    server_->answer([type, fails, done = std::move(done)] {
      if (fails) return done(unavailable("the device is gone"));
      const auto zeros = SharedBytes::own(std::vector<std::uint64_t>(type.num_bytes() / 8 + 1));
      done(proto::HostTensor{type, zeros.slice(0, type.num_bytes())});
    });
  }
  void sync(SyncCallback done) override {
    server_->answer([done = std::move(done)] { done(ok_status()); });
  }
  void close() override {}

 private:
  void take(proto::Run run) {
    const std::lock_guard lock(server_->mutex);
    const auto& program = *server_->programs.at(run.program);
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
      add(run.first_output + i, program.type_of(program.outputs[i]));
    }
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      if (program.inputs[i].donated) remove(run.inputs[i]);
    }
    for (const auto id : run.release) remove(id);
    server_->runs.push_back(std::move(run));
  }

  void add(proto::TensorId id, const ir::TensorType& type) {
    types_[id] = type;
    server_->tensors += 1;
  }
  void remove(proto::TensorId id) { server_->tensors -= static_cast<int>(types_.erase(id)); }

  std::shared_ptr<FakeServer> server_;
  std::map<proto::TensorId, ir::TensorType> types_;
  proto::SessionInfo info_;
};

inline Device fake_device(const std::shared_ptr<FakeServer>& server) {
  return Device::from_session("fake", std::make_unique<FakeSession>(server));
}

}  // namespace burn::test
