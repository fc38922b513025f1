#include "session/local_session.h"

#include <bit>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "tests/session/session_test.h"

namespace burn::session {
namespace {

Status out_of_range_error(int index) {
  return {StatusCode::out_of_range, "gather: index " + std::to_string(index) + " (at model.cc:9)"};
}

TEST_F(LocalSessionTest, ComputesWhatWasDefined) {
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  write(2, {2}, {10, 20});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  const auto sum = read(3);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum->type, f32({2}));
  EXPECT_EQ(values(*sum), (std::vector<float>{11, 22}));
  EXPECT_TRUE(sync().ok());
}

TEST_F(LocalSessionTest, BindsScalars) {
  define(1, scale_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1}, .first_output = 2, .scalars = {std::bit_cast<std::uint64_t>(3.0)}});
  EXPECT_EQ(values(*read(2)), (std::vector<float>{3, 6}));
}

TEST_F(LocalSessionTest, SaysWhatItIs) {
  const auto& info = session_->info();
  EXPECT_EQ(info.server.rfind("burn-server ", 0), 0u);
  EXPECT_EQ(info.devices, std::vector<std::string>{"fake"});
  EXPECT_EQ(info.max_tensor_bytes, std::uint64_t{1} << 32);
  EXPECT_EQ(info.max_in_flight, Quotas{}.in_flight);
  EXPECT_GT(info.bulk_credit, 0u);
}

TEST_F(LocalSessionTest, KnowsOnlyWhatItWasTold) {
  EXPECT_FAILS(read(17).status(), not_found, "tensor 17 is not known in this session");
  run({.program = 4, .inputs = {}, .first_output = 1});
  EXPECT_FAILS(sync(), not_found, "program 4 is not known in this session");
  EXPECT_TRUE(session_->release({8}).ok());
  EXPECT_FAILS(sync(), not_found, "tensor 8 is not known in this session");
  EXPECT_TRUE(sync().ok());  // a failure is reported once
}

TEST_F(LocalSessionTest, SessionsDoNotSeeEachOther) {
  write(1, {2}, {1, 2});
  const auto other = make_local_session(worker_);
  EXPECT_FAILS(read(*other, 1).status(), not_found, "tensor 1 is not known");
}

TEST_F(LocalSessionTest, ReleasedTensorsAreGone) {
  write(1, {2}, {1, 2});
  EXPECT_TRUE(session_->release({1}).ok());
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, RunsReleaseWhatTheyAreTold) {
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  write(2, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 3, .release = {1, 2}});
  EXPECT_TRUE(read(3).ok());
  EXPECT_FALSE(read(1).ok());
  EXPECT_FALSE(read(2).ok());
  EXPECT_EQ(device_->in_use, 8u);
}

TEST_F(LocalSessionTest, ChecksRunsBeforeItRunsThem) {
  define(1, add_program({2}));
  define(2, scale_program({2}));
  write(1, {2}, {1, 2});
  write(2, {3}, {1, 2, 3});
  const std::tuple<Call, StatusCode, std::string> cases[] = {
      {{.program = 1, .inputs = {1}, .first_output = 10},
       StatusCode::invalid_argument,
       "program 1: 1 inputs given, it has 2"},
      {{.program = 1, .inputs = {1, 2}, .first_output = 20},
       StatusCode::invalid_argument,
       "program 1: input 1 is f32[2], tensor 2 is f32[3]"},
      {{.program = 1, .inputs = {1, 9}, .first_output = 30}, StatusCode::not_found, "program 1: tensor 9 is not known"},
      {{.program = 2, .inputs = {1}, .first_output = 40}, StatusCode::invalid_argument, "0 scalars given, it has 1"},
      {{.program = 1, .inputs = {1, 1}, .first_output = 2}, StatusCode::already_exists, "tensor 2 exists already"},
      {{.program = 1, .inputs = {1, 1}, .first_output = ~std::uint64_t{0}},
       StatusCode::invalid_argument,
       "no 1 ids from"},
      {{.program = 1, .inputs = {1, 1}, .first_output = 50, .release = {77}}, StatusCode::not_found, "tensor 77"},
  };
  for (const auto& [call, code, part] : cases) {
    run(call);
    const auto status = sync();
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.to_string();
  }
  EXPECT_EQ(device_->runs, 0);
  EXPECT_TRUE(read(1).ok());
  EXPECT_EQ(values(*read(2)), (std::vector<float>{1, 2, 3}));  // not overwritten by the failure
}

TEST_F(LocalSessionTest, IdsAreUsedOnce) {
  write(1, {1}, {1});
  write(1, {1}, {2});
  EXPECT_FAILS(sync(), already_exists, "tensor 1 exists already");
  EXPECT_EQ(values(*read(1)), std::vector<float>{1});
}

TEST_F(LocalSessionTest, AProgramTakesThePlaceOfTheOneThatHadItsId) {
  write(1, {2}, {1, 2});
  define(1, add_program({2}));
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  define(1, scale_program({2}));
  run({.program = 1, .inputs = {1}, .first_output = 3, .scalars = {std::bit_cast<std::uint64_t>(5.0)}});
  EXPECT_EQ(values(*read(2)), (std::vector<float>{2, 4}));
  EXPECT_EQ(values(*read(3)), (std::vector<float>{5, 10}));
}

TEST_F(LocalSessionTest, AProgramThatIsRefusedTakesThePlaceOfTheOneThatHadItsIdToo) {
  write(1, {2}, {1, 2});
  define(1, add_program({2}));
  EXPECT_TRUE(session_->define_invalid(1, 1, unimplemented("node 0: op \"teleport\""), {}).ok());
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(read(2).status(), unimplemented, "teleport");
  define(2, add_program({2}));
  device_->on_compile = [](const ir::Program&) { return unimplemented("op \"scan\""); };
  define(2, add_program({3}));
  run({.program = 2, .inputs = {1, 1}, .first_output = 3});
  EXPECT_FAILS(read(3).status(), unimplemented, "op \"scan\"");
}

TEST_F(LocalSessionTest, AProgramThatCouldNotBeCompiledForWantOfMemoryIsTriedAgain) {
  device_->on_compile = [](const ir::Program&) { return resource_exhausted("no memory"); };
  define(1, add_program({2}));
  EXPECT_FAILS(sync(), resource_exhausted, "program 1: no memory");
  device_->on_compile = nullptr;
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_EQ(values(*read(2)), (std::vector<float>{2, 4}));
}

// --- failures --------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, AFailedRunPoisonsWhatDependsOnIt) {
  device_->on_run = [n = 0](const ir::Program&) mutable {
    return n++ == 0 ? Status{StatusCode::out_of_range, "gather: index 7 (at model.cc:9)"} : Status{};
  };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  run({.program = 1, .inputs = {3, 1}, .first_output = 4});
  const auto cause = "program 1: gather: index 7 (at model.cc:9)";
  for (const proto::TensorId id : {2, 3, 4}) EXPECT_FAILS(read(id).status(), out_of_range, cause);
  EXPECT_EQ(read(4).status().message(), cause);              // the first cause, not a chain
  EXPECT_TRUE(sync().ok());                                  // the reads have reported it
  run({.program = 1, .inputs = {1, 1}, .first_output = 5});  // the session lives
  EXPECT_TRUE(read(5).ok());
}

TEST_F(LocalSessionTest, ASyncReportsTheFirstFailureThatNoReadHasReported) {
  device_->on_run = [n = 0](const ir::Program&) mutable { return out_of_range_error(++n); };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  for (proto::TensorId output = 2; output <= 4; ++output) run({.program = 1, .inputs = {1, 1}, .first_output = output});
  EXPECT_FAILS(read(2).status(), out_of_range, "index 1");
  EXPECT_FAILS(sync(), out_of_range, "index 2");
  EXPECT_TRUE(sync().ok());
  EXPECT_FAILS(read(4).status(), out_of_range, "index 3");  // a read can but fail
}

TEST_F(LocalSessionTest, AFailedInputFailsOnlyWhatIsComputedFromIt) {
  device_->on_run = [n = 0](const ir::Program&) mutable { return n++ == 0 ? out_of_range_error(7) : Status{}; };
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({2})), y = builder.add_input(f32({2}));
  const ir::Ref both[] = {x, y}, twice[] = {y, y};
  const auto sum = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
  const auto square = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, twice));
  define(1, add_program({2}));
  define(2, std::make_shared<const ir::Program>(builder.finish({sum, square})));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  run({.program = 2, .inputs = {2, 1}, .first_output = 3});
  EXPECT_EQ(values(*read(4)), (std::vector<float>{1, 4}));
  EXPECT_EQ(read(3).status().message(), read(2).status().message());
  EXPECT_TRUE(sync().ok());
}

TEST_F(LocalSessionTest, RunsOfAProgramThatDoesNotCompileFail) {
  device_->on_compile = [](const ir::Program&) { return unimplemented("op \"scan\""); };
  define(5, add_program({2}));
  EXPECT_FAILS(sync(), unimplemented, "program 5: op \"scan\"");
  run({.program = 5, .inputs = {1, 2}, .first_output = 3});
  EXPECT_FAILS(read(3).status(), unimplemented, "program 5: op \"scan\"");
}

TEST_F(LocalSessionTest, RunsOfAnOpThatTheDeviceHasNotFail) {
  device_->on_supports = [](const ir::Op& op) {
    return ir::name(op) == "add" ? unimplemented("op \"add\" is not known to this device") : Status{};
  };
  define(5, add_program({2}));
  EXPECT_FAILS(sync(), unimplemented, "program 5: op \"add\" is not known to this device (at model.cc:41)");
}

TEST_F(LocalSessionTest, AnOpThatTheDeviceHasNotIsMadeOfOthers) {
  device_->on_supports = [](const ir::Op& op) {
    return ir::name(op) == "recip" ? unimplemented("op \"recip\"") : Status{};
  };
  std::vector<std::string> compiled;
  device_->on_compile = [&](const ir::Program& program) {
    for (const auto& node : program.nodes) compiled.emplace_back(ir::name(node.op));
    return Status{};
  };
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({2}));
  const auto y = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::recip}, {&x, 1}));
  define(5, std::make_shared<const ir::Program>(builder.finish({y})));
  EXPECT_TRUE(sync().ok());
  EXPECT_EQ(compiled, (std::vector<std::string>{"constant", "div"}));
}

TEST_F(LocalSessionTest, RunsOfAProgramThatCouldNotBeReadFail) {
  EXPECT_TRUE(session_->define_invalid(5, 2, unimplemented("node 3: op \"teleport\""), {}).ok());
  run({.program = 5, .inputs = {1, 2, 3}, .first_output = 8});
  for (const proto::TensorId id : {8, 9})
    EXPECT_FAILS(read(id).status(), unimplemented, "program 5: node 3: op \"teleport\"");
  EXPECT_FAILS(read(10).status(), not_found, "tensor 10");
}

TEST_F(LocalSessionTest, ExceptionsOfABackendAreFailuresOfTheRun) {
  device_->on_run = [](const ir::Program&) -> Status { throw std::bad_alloc{}; };
  define(1, add_program({2}));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 1}, .first_output = 2});
  EXPECT_FAILS(sync(), resource_exhausted, "out of memory");
  EXPECT_FAILS(read(2).status(), resource_exhausted, "out of memory");
}

TEST_F(LocalSessionTest, ATensorOfTheWrongSizeIsPoisoned) {
  EXPECT_TRUE(session_->write(1, {f32({4}), SharedBytes::own(std::vector<float>{1, 2})}).ok());
  EXPECT_FAILS(read(1).status(), invalid_argument, "8 bytes for tensor 1: f32[4], which has 16");
}

// --- donation --------------------------------------------------------------------------------------------------------

TEST_F(LocalSessionTest, DonatedInputsAreGoneAfterwards) {
  define(1, add_program({2}, true, false));
  write(1, {2}, {1, 2});
  write(2, {2}, {5, 5});
  run({.program = 1, .inputs = {1, 2}, .first_output = 3});
  EXPECT_EQ(values(*read(3)), (std::vector<float>{6, 7}));
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_TRUE(read(2).ok());
  EXPECT_EQ(device_->shared_donations, 0);
}

TEST_F(LocalSessionTest, DonatedInputsAreGoneAfterAFailureToo) {
  define(1, add_program({2}, true, true));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1, 9}, .first_output = 3});
  EXPECT_FAILS(sync(), not_found, "tensor 9");
  EXPECT_FAILS(read(1).status(), not_found, "tensor 1");
  EXPECT_EQ(device_->in_use, 0u);
}

TEST_F(LocalSessionTest, WhatIsDonatedIsUsedOnce) {
  define(1, add_program({2}, true, false));
  define(2, add_program({2}, false, true));
  for (const proto::ProgramId program : {1, 2}) {
    write(program, {2}, {1, 2});
    run({.program = program, .inputs = {program, program}, .first_output = 10 + program});
    EXPECT_FAILS(sync(), invalid_argument, "is donated and used twice");
  }
  write(3, {2}, {1, 2});
  write(4, {2}, {1, 2});
  run({.program = 1, .inputs = {3, 4}, .first_output = 20, .release = {3}});
  EXPECT_FAILS(sync(), invalid_argument, "tensor 3 is donated and released");
}

TEST_F(LocalSessionTest, ADonatedBufferHasNoOtherOwner) {
  define(1, reshape_program({2}, {1, 2}));
  define(2, scale_program({1, 2}, true));
  write(1, {2}, {1, 2});
  run({.program = 1, .inputs = {1}, .first_output = 2});  // shares the buffer of tensor 1
  const auto view = read(2);
  run({.program = 2, .inputs = {2}, .first_output = 3, .scalars = {std::bit_cast<std::uint64_t>(2.0)}});
  EXPECT_EQ(values(*read(3)), (std::vector<float>{2, 4}));
  EXPECT_EQ(values(*read(1)), (std::vector<float>{1, 2}));
  EXPECT_EQ(values(*view), (std::vector<float>{1, 2}));
  EXPECT_EQ(device_->shared_donations, 0);
}

}  // namespace
}  // namespace burn::session
