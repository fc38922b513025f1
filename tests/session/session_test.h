// A session on a fake device, for tests.
#pragma once

#include <bit>
#include <future>
#include <string>

#include <gtest/gtest.h>

#include "session/local_session.h"
#include "tests/session/answers.h"
#include "tests/session/expect_fails.h"
#include "tests/session/fake_backend.h"
#include "tests/session/programs.h"

namespace burn::session {

using Call = proto::Run;  // gtest has a Run of its own

class LocalSessionTest : public testing::Test {
 protected:
  Result<proto::HostTensor> read(proto::TensorId id) { return session::read(*session_, id); }
  static Result<proto::HostTensor> read(proto::Session& session, proto::TensorId id) {
    return session::read(session, id);
  }
  Status sync() { return session::sync(*session_); }
  void reopen(const Quotas& quotas, Execution execution = Execution::session_thread) {
    session_ = make_local_session(worker_, quotas, execution);
  }
  void write(proto::TensorId id, ir::Shape shape, std::vector<float> numbers) {
    EXPECT_TRUE(session_->write(id, tensor(shape, std::move(numbers))).ok());
  }
  void run(Call run) { EXPECT_TRUE(session_->run(std::move(run)).ok()); }
  void define(proto::ProgramId id, ProgramPtr program, std::vector<proto::ProgramId> forget = {}) {
    EXPECT_TRUE(session_->define(id, std::move(program), std::move(forget)).ok());
  }

  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::shared_ptr<Worker> worker_ = Worker::create(make_fake_backend(device_));
  std::unique_ptr<LocalSession> session_ = make_local_session(worker_);
};

}  // namespace burn::session
