// A run that fails as a whole leaves what it was given to replace, where a Commit guards it; and says why, once.
#include <chrono>

#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "tests/session/session_test.h"

namespace burn::session {
namespace {

using std::chrono::milliseconds;

// What an optimizer's step is: in0 and its moment, which is in1 or 0 in the first step, move by what is computed of
// in2. Outputs: the new value, the new moment, what was computed.
ProgramPtr step_program(std::int64_t numbers, std::int64_t repeated, bool is_first = false) {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  };
  const ir::Shape shape{1, numbers};
  const auto state = builder.add_input(f32(shape));
  builder.donate(0);
  ir::Ref moment;
  if (is_first) {
    moment = add(ir::Expand{shape}, {add(ir::Constant{ir::DType::f32}, {})});
  } else {
    moment = builder.add_input(f32(shape));
    builder.donate(1);
  }
  const auto x = builder.add_input(f32(shape));
  const auto wide = add(ir::Expand{{repeated, numbers}}, {x});
  const auto change = add(ir::Reduce{ir::ReduceFn::max, {0}}, {wide});
  const auto ok = add(ir::Commit{}, {});
  const auto kept = [&](ir::Ref updated, ir::Ref old) {
    return add(ir::Pointwise{ir::PointwiseFn::select}, {ok, updated, old});
  };
  const auto next = add(ir::Pointwise{ir::PointwiseFn::add}, {moment, change});
  const auto updated = add(ir::Pointwise{ir::PointwiseFn::add}, {state, next});
  const auto a = kept(updated, state), b = kept(next, moment);
  return std::make_shared<const ir::Program>(builder.finish({a, b, change}));
}

class KeptState : public LocalSessionTest {
 protected:
  void open(const Quotas& quotas) {
    worker_ = Worker::create(value_or_throw(backends::open_backend("cpu")));
    reopen(quotas);
  }
  void give(std::int64_t numbers) {
    write(1, {1, numbers}, std::vector<float>(static_cast<std::size_t>(numbers), 5));
    write(2, {1, numbers}, std::vector<float>(static_cast<std::size_t>(numbers), 7));
    write(3, {1, numbers}, std::vector<float>(static_cast<std::size_t>(numbers), 8));
  }
  void expect_kept(proto::TensorId state, float moment) {
    ASSERT_TRUE(read(state).ok());
    EXPECT_EQ(values(*read(state))[0], 5);
    EXPECT_EQ(values(*read(state + 1))[0], moment);
  }
};

TEST_F(KeptState, OfARunThatTookTooLong) {
  open({.run_timeout = milliseconds{100}});
  give(4096);
  define(1, step_program(4096, std::int64_t{1} << 32));
  run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10});
  EXPECT_FAILS(read(10).status(), deadline_exceeded, "program 1: the run took longer than the 100 ms");
  expect_kept(10, 7);
  EXPECT_FAILS(read(12).status(), deadline_exceeded, "the run took longer");
  EXPECT_TRUE(sync().ok()) << "it was told";
  // And the next one goes on from there.
  define(2, step_program(4096, 8));
  run({.program = 2, .inputs = {10, 11, 3}, .first_output = 20});
  EXPECT_EQ(values(*read(20))[0], 20);
  EXPECT_EQ(values(*read(21))[0], 15);
}

TEST_F(KeptState, OfARunThatMayNotHaveItsResults) {
  open({.tensor_bytes = 48 << 10});
  give(4096);
  for (const bool is_first : {false, true}) {
    define(1, step_program(4096, 8, is_first));
    run({.program = 1,
         .inputs = is_first ? std::vector<proto::TensorId>{10, 3} : std::vector<proto::TensorId>{1, 2, 3},
         .first_output = is_first ? 30U : 10U});
    EXPECT_FAILS(sync(), resource_exhausted, "exceed what a session may hold");
    if (!is_first) {
      expect_kept(10, 7);
      EXPECT_TRUE(session_->release({11}).ok());
    }
  }
  expect_kept(30, 0);
}

TEST_F(KeptState, OfAProgramThatIsRefused) {
  open({.program_work = 1e6});
  give(16);
  define(1, step_program(16, std::int64_t{1} << 30));
  EXPECT_FAILS(sync(), resource_exhausted, "a run would compute about");
  run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10});
  EXPECT_FAILS(read(12).status(), resource_exhausted, "a run would compute about");
  expect_kept(10, 7);
}

TEST_F(KeptState, IsToldOfByTheNextReadOfAnythingElse) {
  open({.run_timeout = milliseconds{50}});
  give(4096);
  write(4, {1}, {42});
  define(1, step_program(4096, std::int64_t{1} << 32));
  run({.program = 1, .inputs = {1, 2, 3}, .first_output = 10});
  EXPECT_FAILS(read(4).status(), deadline_exceeded, "the run took longer");
  EXPECT_EQ(values(*read(4))[0], 42);
}

}  // namespace
}  // namespace burn::session
