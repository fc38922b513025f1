// What a session's account counts, and that nothing is taken without it.
#include <future>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "proto/codec.h"
#include "tests/session/session_test.h"

namespace burn::session {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// --- calls that wait -------------------------------------------------------------------------------------------------

class AccountTest : public LocalSessionTest {
 protected:
  // Until the executor is at this gate, nothing else is done.
  void hold() {
    device_->on_run = [&](const ir::Program&) {
      gate_.pass();
      return Status{};
    };
    define(1, add_program({1}));
    write(1, {1}, {1});
    run({.program = 1, .inputs = {1, 1}, .first_output = 2});
    gate_.await(1);
  }
  SharedBytes encoded(const ProgramPtr& program) const {
    const auto frame = proto::encode({1, proto::DefineProgram{1, program}, {}});
    const auto text = frame.header;
    const auto bytes = SharedBytes::own(std::vector<char>(text.begin(), text.end()));
    return std::get<proto::DefineProgram>(proto::decode(bytes, proto::Programs::later)->body).encoded;
  }

  Gate gate_;
};

TEST_F(AccountTest, ListsThatWaitAreBoundedByTheirRealSize) {
  reopen({.queue_bytes = 4 * kMiB});
  hold();
  const std::vector<proto::TensorId> ids(65536, 1);  // 64 KiB on the wire, 512 here
  Status status;
  int taken = 0;
  while (taken < 100 && (status = session_->release(ids)).ok()) ++taken;
  EXPECT_EQ(taken, 7);
  EXPECT_FAILS(std::move(status), resource_exhausted, "bytes of calls wait");
  EXPECT_GE(session_->stats().session.host_bytes, 3 * kMiB);
  EXPECT_TRUE(session_->run({.program = 1, .inputs = {1, 1}, .first_output = 3}).ok());  // small ones are always taken
  gate_.open();
  EXPECT_FALSE(sync().ok());  // tensor 1 was released many times
  EXPECT_LT(session_->stats().session.host_bytes, kMiB);
}

TEST_F(AccountTest, ProgramsThatWaitAreBoundedByTheirRealSize) {
  reopen({.queue_bytes = 3 * kMiB});
  hold();
  const auto program = SharedBytes::own(std::vector<std::byte>(kMiB));
  EXPECT_TRUE(session_->define_encoded(7, program, {}).ok());
  EXPECT_TRUE(session_->define_encoded(8, program, {}).ok());
  EXPECT_FAILS(session_->define_encoded(9, program, {}), resource_exhausted, "bytes of calls wait");
  gate_.open();
  EXPECT_FAILS(sync(), invalid_argument, "program 7: the program is malformed");
}

// A tensor for which there is no memory fails alone.
TEST_F(AccountTest, AWriteBeyondTheAccountFailsAlone) {
  reopen({.tensor_bytes = kMiB});
  hold();
  for (proto::TensorId id = 10; id < 60; ++id) {
    const auto numbers = std::vector<float>(16384);
    EXPECT_TRUE(session_->write(id, tensor({16384}, numbers)).ok());
  }
  gate_.open();
  EXPECT_TRUE(read(10).ok());
  EXPECT_FAILS(read(59).status(), resource_exhausted, "exceed what a session may hold");
}

// --- programs --------------------------------------------------------------------------------------------------------

TEST_F(AccountTest, ProgramsAreReadWhenTheirTurnComes) {
  hold();
  EXPECT_TRUE(session_->define_encoded(5, encoded(add_program({4})), {}).ok());
  write(10, {4}, {1, 2, 3, 4});
  run({.program = 5, .inputs = {10, 10}, .first_output = 11});
  gate_.open();
  EXPECT_EQ(values(*read(11)), (std::vector<float>{2, 4, 6, 8}));
}

ProgramPtr chain(int nodes) {
  ir::ProgramBuilder builder;
  auto x = builder.add_input(f32({1}));
  for (int i = 0; i < nodes; ++i) {
    const ir::Ref both[] = {x, x};
    x = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
  }
  return std::make_shared<const ir::Program>(builder.finish({x}));
}

TEST_F(AccountTest, ProgramsArePaidForBeforeTheyAreRead) {
  reopen({.tensor_bytes = 4 * kMiB});
  const auto large = chain(10'000);  // about 16 MiB with its plan
  EXPECT_TRUE(session_->define_encoded(5, encoded(large), {}).ok());
  write(1, {1}, {1});
  run({.program = 5, .inputs = {1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "program 5: ");
  EXPECT_EQ(device_->compiled, 0);
  EXPECT_TRUE(session_->define_encoded(6, encoded(chain(1000)), {}).ok());
  run({.program = 6, .inputs = {1}, .first_output = 3});
  EXPECT_TRUE(read(3).ok());
  EXPECT_GE(session_->stats().session.host_bytes, 1000u * 1500);
  EXPECT_TRUE(session_->define(6, add_program({1}), {}).ok());
  (void)sync();
  EXPECT_LT(session_->stats().session.host_bytes, 1000u * 100);
  EXPECT_EQ(worker_->stats().programs_refused, 1u);
}

TEST_F(AccountTest, DefinitionsOfProgramsAreNewOrKnownOrRefused) {
  define(1, add_program({4}));
  define(2, add_program({4}));  // of the same session
  define(3, add_program({5}));
  const auto other = make_local_session(worker_);
  EXPECT_TRUE(other->define(1, add_program({4}), {}).ok());
  EXPECT_TRUE(session::sync(*other).ok());
  EXPECT_TRUE(session_->define_invalid(4, 1, unimplemented("no such op"), {}).ok());
  EXPECT_FAILS(sync(), unimplemented, "no such op");
  const auto stats = worker_->stats();
  EXPECT_EQ(stats.programs_new, 2u);
  EXPECT_EQ(stats.programs_known, 2u);
  EXPECT_EQ(stats.programs_refused, 1u);
}

TEST_F(AccountTest, ACallWithoutMemoryCountsOnceAndWhatIsComputedFromItsResultDoesNot) {
  reopen({.tensor_bytes = kMiB});
  define(1, add_program({1}));
  write(1, {1 << 19}, std::vector<float>(1 << 19));
  EXPECT_FAILS(read(1).status(), resource_exhausted, "exceed what a session may hold");
  EXPECT_EQ(worker_->stats().allocation_failures, 1u);
  for (proto::TensorId k = 2; k < 5; ++k) run({.program = 1, .inputs = {1, 1}, .first_output = k});
  EXPECT_FAILS(read(4).status(), resource_exhausted, "exceed what a session may hold");
  EXPECT_EQ(worker_->stats().allocation_failures, 1u) << "the runs failed for their input";
  device_->on_run = [](const ir::Program&) -> Status { throw std::bad_alloc{}; };
  define(2, add_program({1}));
  write(10, {1}, {1});
  run({.program = 2, .inputs = {10, 10}, .first_output = 11});
  EXPECT_FAILS(read(11).status(), resource_exhausted, "out of memory");
  EXPECT_EQ(worker_->stats().allocation_failures, 2u) << "of the device";
  run({.program = 9, .inputs = {10, 10}, .first_output = 12});
  EXPECT_FAILS(read(12).status(), not_found, "");
  EXPECT_EQ(worker_->stats().allocation_failures, 2u) << "other failures are none of memory";
}

TEST_F(AccountTest, ARunThatWouldComputeForeverIsRefused) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({1}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{std::int64_t{1} << 50}}, {&x, 1}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0}}, {&wide, 1}));
  define(1, std::make_shared<const ir::Program>(builder.finish({sum})));
  write(1, {1}, {1});
  run({.program = 1, .inputs = {1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "a run would compute about 1.1e+15 numbers, at most 7e+13 may be");
  EXPECT_EQ(device_->runs, 0);
}

// --- call sites ------------------------------------------------------------------------------------------------------

ProgramPtr add_at(const char* file, std::uint32_t line) {
  ir::ProgramBuilder builder;
  const ir::Ref both[] = {builder.add_input(f32({1})), builder.add_input(f32({1}))};
  const auto sum = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both, {file, line}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

TEST_F(AccountTest, CallSitesAreTheCallersOwn) {
  device_->on_run = [](const ir::Program& program) { return internal_error(to_string(program.nodes[0].site)); };
  const auto other = make_local_session(worker_);
  const auto fails_at = [&](proto::Session& session, const ProgramPtr& program) {
    EXPECT_TRUE(session.define(1, program, {}).ok());
    EXPECT_TRUE(session.write(1, tensor({1}, {1})).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
    return read(session, 2).status().message();
  };
  EXPECT_NE(fails_at(*session_, add_at("secret.cc", 7)).find("secret.cc:7"), std::string::npos);
  EXPECT_NE(fails_at(*other, add_at("mine.cc", 9)).find("mine.cc:9"), std::string::npos);
  const auto third = make_local_session(worker_);
  const std::string same_text = "mine.cc";
  EXPECT_NE(fails_at(*third, add_at(same_text.c_str(), 9)).find("mine.cc:9"), std::string::npos);
  EXPECT_EQ(device_->compiled, 2);  // a program written in the same place shares the plan
}

// --- tensors ---------------------------------------------------------------------------------------------------------

TEST_F(AccountTest, AReleasedTensorCountsAsLongAsItIsBeingRead) {
  write(1, {4}, {1, 2, 3, 4});
  auto answer = std::make_unique<Result<proto::HostTensor>>(read(1));
  EXPECT_TRUE(session_->release({1}).ok());
  EXPECT_TRUE(sync().ok());
  EXPECT_EQ(session_->stats().session.memory_in_use, 16u);
  answer.reset();
  EXPECT_EQ(session_->stats().session.memory_in_use, 0u);
}

TEST_F(AccountTest, WhatIsReadMayOutliveItsSessionAndTheWorker) {
  define(1, chain(2000));  // so that the worker has granted something
  write(1, {4}, {1, 2, 3, 4});
  const auto answer = read(1);
  EXPECT_TRUE(session_->release({1}).ok());
  EXPECT_TRUE(sync().ok());
  EXPECT_GT(worker_->stats().host_bytes, 0u);
  session_.reset();
  EXPECT_EQ(worker_->stats().host_bytes, 0u);
  worker_.reset();
  EXPECT_EQ(values(*answer), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(AccountTest, ADonatedTensorThatIsReadStillCounts) {
  reopen({.tensor_bytes = 40});
  define(1, scale_program({4}, true));
  write(1, {4}, {1, 2, 3, 4});
  auto answer = std::make_unique<Result<proto::HostTensor>>(read(1));
  run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_TRUE(read(2).ok());
  EXPECT_EQ(session_->stats().session.memory_in_use, 32u);
  answer.reset();
  EXPECT_EQ(session_->stats().session.memory_in_use, 16u);
}

TEST_F(AccountTest, AMillionPoisonedOutputsAreOneEntry) {
  constexpr std::size_t kMany = 1 << 20;
  EXPECT_TRUE(session_->define_invalid(1, kMany, unimplemented("node 0: op \"teleport\""), {}).ok());
  run({.program = 1, .first_output = 100});
  EXPECT_FAILS(read(100).status(), unimplemented, "teleport");
  EXPECT_FAILS(read(100 + kMany - 1).status(), unimplemented, "teleport");
  EXPECT_FAILS(read(100 + kMany).status(), not_found, "");
  EXPECT_LT(session_->stats().session.host_bytes, 100u << 10);
  // One of them may go, and is unknown then; its neighbours are not.
  EXPECT_TRUE(session_->release({5000}).ok());
  (void)sync();
  EXPECT_FAILS(read(5000).status(), not_found, "tensor 5000");
  EXPECT_FAILS(read(4999).status(), unimplemented, "teleport");
  EXPECT_FAILS(read(5001).status(), unimplemented, "teleport");
  write(5000, {1}, {3});
  EXPECT_EQ(values(*read(5000)), (std::vector<float>{3}));
  // What is computed from one fails for the same reason, and ids that are taken are taken.
  define(2, add_program({1}));
  run({.program = 2, .inputs = {5000, 6000}, .first_output = 50});
  EXPECT_FAILS(read(50).status(), unimplemented, "teleport");
  (void)sync();
  run({.program = 2, .inputs = {5000, 5000}, .first_output = 6000});
  EXPECT_FAILS(sync(), already_exists, "tensor 6000");
}

TEST_F(AccountTest, PoisonLeavesTensorsThatExistAlone) {
  write(5, {1}, {3});
  EXPECT_TRUE(session_->define_invalid(1, 10, unimplemented("no"), {}).ok());
  run({.program = 1, .first_output = 1});
  EXPECT_EQ(values(*read(5)), (std::vector<float>{3}));
  for (const proto::TensorId id : {1, 4, 6, 10}) EXPECT_FAILS(read(id).status(), unimplemented, "no");
}

TEST_F(AccountTest, ManySmallTensorsAreCountedWithWhatTheyTakeBesides) {
  reopen({.tensor_bytes = kMiB});
  Status status;
  proto::TensorId id = 1;
  for (; id < 10'000; ++id) {
    write(id, {1}, {1});
    if (id % 500 != 0) continue;
    status = sync();
    if (!status.ok()) break;
  }
  EXPECT_FAILS(std::move(status), resource_exhausted, "exceed what a session may hold");
  EXPECT_LT(id, 3500u);  // 4 bytes each, and 384 of entry and buffer
  std::vector<proto::TensorId> all(id);
  for (proto::TensorId k = 1; k <= id; ++k) all[k - 1] = k;
  EXPECT_TRUE(session_->release(all).ok());
  EXPECT_TRUE(session_->release({}).ok());
  (void)sync();
  EXPECT_LT(session_->stats().session.host_bytes, 200u << 10);
}

// --- exceptions ------------------------------------------------------------------------------------------------------

TEST_F(AccountTest, WantOfMemoryFailsTheRunAndNothingElse) {
  bool fails = true;
  device_->on_run = [&](const ir::Program&) -> Status {
    if (std::exchange(fails, false)) throw std::bad_alloc{};
    return {};
  };
  define(1, add_program({1}));
  write(1, {1}, {1});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), resource_exhausted, "out of memory");
  run({.program = 1, .inputs = {1, 1}, .first_output = 3});
  EXPECT_TRUE(read(3).ok());
}

}  // namespace
}  // namespace burn::session
