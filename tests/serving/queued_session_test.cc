// A session without a device: calls of a QueuedSession reach whatever performs them, in their order and one at a time.
#include "serving/queued_session.h"

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/overloaded.h"
#include "serving/call_performer.h"
#include "serving/callback_scope.h"
#include "serving/signal.h"
#include "tests/session/expect_fails.h"
#include "tests/session/programs.h"

namespace burn::serving {
namespace {

using session::Gate;

// Writes down what it is told. Tensors are what was written.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false, quick = true;
  std::atomic<std::thread::id> last_thread{};
  Status why;            // of the last write that failed
  Gate* hold = nullptr;  // runs wait here

  std::string text() {
    const std::lock_guard lock{mutex};
    std::string all;
    for (const auto& line : lines) all += line + " ";
    return all;
  }
};

class NotingPerformer final : public CallPerformer {
 public:
  explicit NotingPerformer(std::shared_ptr<Log> log, Status health = {})
      : log_(std::move(log)), health_(std::move(health)) {}

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return {}; }
  Status health() const override { return health_; }
  Budget& budget() override { return budget_; }
  WriteCall::Parts receive(proto::TensorId, const ir::TensorType&) override {
    WriteCall::Parts parts;
    parts.failed = unimplemented("no uploads here");
    return parts;
  }
  proto::SessionStats stats() const override { return {.session = {.runs = runs_}}; }

  void perform(Call& call) override {
    if (++log_->inside > 1) log_->overlapped = true;
    log_->last_thread = std::this_thread::get_id();
    std::visit(Overloaded{
                   [&](DefineCall& define) { note("define", define.define.id); },
                   [&](proto::RunProgram& call) {
                     ++runs_;
                     if (log_->hold) log_->hold->pass();
                     note("run", call.run.program);
                   },
                   [&](WriteCall& write) {
                     const auto axis = write.options.batch_axis;
                     note(!write.parts ? axis ? "batch" : "write" : "failed", write.id);
                     if (write.parts) log_->why = write.parts->failed;
                   },
                   [&](proto::Release& release) { note("release", release.ids.front()); },
                   [&](ReadCall& read) {
                     note("read", read.id);
                     const CallbackScope scope{static_cast<const CallPerformer*>(this)};
                     read.done(not_found("nothing is here"));
                   },
                   [&](SyncCall& sync) {
                     note("sync", 0);
                     const CallbackScope scope{static_cast<const CallPerformer*>(this)};
                     sync.done({});
                   },
               },
               call);
    --log_->inside;
  }
  void prepare_ahead(Call&) override {}
  void prepare_run(proto::ProgramId) override {}
  bool is_quick(const Call&) const override { return log_->quick; }
  bool ran_long() const override { return false; }
  void interrupt() override {}
  void finish() override { note("finish", 0); }
  void clear() override { note("clear", 0); }

 private:
  void note(const char* what, std::uint64_t id) {
    const std::lock_guard lock{log_->mutex};
    log_->lines.push_back(what + std::to_string(id));
  }

  const std::shared_ptr<Log> log_;
  const Status health_;
  const proto::SessionInfo info_{.server = "test", .session = "s", .devices = {"none"}};
  Budget budget_{1 << 20};
  std::atomic<std::uint64_t> runs_ = 0;
};

class QueuedSessionTest : public testing::Test {
 protected:
  std::unique_ptr<QueuedSession> open(Execution execution = Execution::session_thread, Status health = {}) {
    return QueuedSession::make(std::make_unique<NotingPerformer>(log_, std::move(health)), {}, execution);
  }
  static Status sync(proto::Session& session) {
    std::promise<Status> done;
    session.sync([&](Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  }

  const std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

TEST_F(QueuedSessionTest, CallsArePerformedInTheirOrderAndTheEndFollows) {
  {
    const auto session = open();
    EXPECT_TRUE(session->define(3, session::add_program({1}), {}).ok());
    EXPECT_TRUE(session->write(5, session::tensor({1}, {1})).ok());
    EXPECT_TRUE(session->run({.program = 3, .inputs = {5, 5}, .first_output = 6}).ok());
    EXPECT_FALSE(session->begin_upload(8, session::f32({1})).ok());
    EXPECT_TRUE(session->release({5}).ok());
    EXPECT_TRUE(sync(*session).ok());
    EXPECT_NE(log_->last_thread.load(), std::this_thread::get_id());
  }
  EXPECT_EQ(log_->text(), "define3 write5 run3 failed8 release5 sync0 finish0 clear0 ");
}

TEST_F(QueuedSessionTest, AWriteMarkedAlongAnAxisThatItDoesNotHaveFailsInItsTurn) {
  {
    const auto session = open();
    EXPECT_TRUE(session->write(1, session::tensor({1}, {1}), {.batch_axis = 0}).ok());
    EXPECT_TRUE(session->write(2, session::tensor({1}, {1}), {.batch_axis = 1}).ok());
    EXPECT_TRUE(sync(*session).ok());
    EXPECT_EQ(log_->why.code(), StatusCode::invalid_argument);
    EXPECT_EQ(log_->why.message(), "write: batch axis 1 of f32[1], which has 1 axes");
    const auto upload = session->begin_upload(3, session::f32({1}), {.batch_axis = -1});
    EXPECT_EQ(upload.status().code(), StatusCode::invalid_argument);
    EXPECT_EQ(session->begin_upload(4, session::f32({1}), {.batch_axis = 0}).status().code(),
              StatusCode::unimplemented);
    EXPECT_TRUE(sync(*session).ok());
  }
  EXPECT_EQ(log_->text(), "batch1 failed2 sync0 failed3 failed4 sync0 finish0 clear0 ");
}

TEST_F(QueuedSessionTest, AQuickCallIsPerformedByItsCallerIfNothingWaits) {
  const auto session = open(Execution::caller_if_quick);
  EXPECT_TRUE(session->release({1}).ok());
  EXPECT_EQ(log_->last_thread.load(), std::this_thread::get_id());
  log_->quick = false;
  EXPECT_TRUE(sync(*session).ok());
  EXPECT_NE(log_->last_thread.load(), std::this_thread::get_id());
}

TEST_F(QueuedSessionTest, OneThreadAtATimePerforms) {
  const auto session = open(Execution::caller_if_quick);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) EXPECT_TRUE(session->release({1}).ok());
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(sync(*session).ok());
  EXPECT_FALSE(log_->overlapped);
}

TEST_F(QueuedSessionTest, StatsCountWhatWaitsBesideTheQueue) {
  Gate gate;
  log_->hold = &gate;
  const auto session = open();
  EXPECT_TRUE(session->run({.program = 1}).ok());
  gate.await(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(session->release({1}).ok());
  std::promise<Result<proto::SessionStats>> answer;
  session->stats([&](Result<proto::SessionStats> stats) { answer.set_value(std::move(stats)); });
  const auto stats = answer.get_future().get();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->queued, 3u);
  EXPECT_EQ(stats->session.runs, 1u);
  gate.open();
  EXPECT_TRUE(sync(*session).ok());
}

TEST_F(QueuedSessionTest, WhatWaitsWhenItClosesIsAnsweredAndNotPerformed) {
  Gate gate;
  log_->hold = &gate;
  const auto session = open();
  EXPECT_TRUE(session->run({.program = 1}).ok());
  gate.await(1);
  std::promise<Status> read;
  session->read(2, [&](Result<proto::HostTensor> result) { read.set_value(result.status()); });
  session->begin_close();
  gate.open();
  session->close();
  EXPECT_FAILS(read.get_future().get(), cancelled, "the session is closed");
  EXPECT_EQ(log_->text(), "run1 finish0 clear0 ");
}

TEST_F(QueuedSessionTest, WithoutHealthNothingIsPerformed) {
  const auto session = open(Execution::session_thread, unavailable("no member is there"));
  EXPECT_FAILS(session->health(), unavailable, "no member is there");
  EXPECT_FAILS(session->release({1}), unavailable, "no member is there");
  EXPECT_FAILS(sync(*session), unavailable, "no member is there");
}

}  // namespace
}  // namespace burn::serving
