// Runs that would not end by themselves: on the CPU, which computes on threads of this process.
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "base/error.h"
#include "session/local_session.h"
#include "tests/session/expect_fails.h"
#include "tests/session/programs.h"

namespace burn::session {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr seconds kSoon{20};  // sanitizers on a busy machine; what is interrupted would take days

// Each sees 2^44 numbers.
struct Endless {
  const char* name;
  ProgramPtr program;
};

ProgramPtr reduction(ir::ReduceFn fn, std::vector<std::int64_t> axes, ir::Shape from, ir::Shape to) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32(from));
  const auto wide = value_or_throw(builder.add(ir::Expand{to}, {&x, 1}));
  ir::Dims dims;
  for (const auto axis : axes) dims.push_back(axis);
  const auto y = value_or_throw(builder.add(ir::Reduce{fn, dims}, {&wide, 1}));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

// Fused: exp of what is repeated, summed.
ProgramPtr fused() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({1, 4096}));
  const auto wide = value_or_throw(builder.add(ir::Expand{{std::int64_t{1} << 32, 4096}}, {&x, 1}));
  const auto y = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::exp}, {&wide, 1}));
  const auto sum = value_or_throw(builder.add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {&y, 1}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

// Every output sees all of the input.
ProgramPtr pooling() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({1, 1, 2048, 2048}));
  const auto y = value_or_throw(builder.add(
      ir::MaxPool{.kernel = {2047, 2047}, .stride = {1, 1}, .padding = {1023, 1023}, .dilation = {1, 1}}, {&x, 1}));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

// The queries times the keys, whose rows are one number repeated; a bias, of one number, has ways of its own.
ProgramPtr attention(std::int64_t keys, std::int64_t depth, bool with_bias) {
  ir::ProgramBuilder builder;
  constexpr std::int64_t kQueries = 1 << 16;
  const auto x = builder.add_input(f32({1, 1}));
  const auto wide = [&](std::int64_t rows, std::int64_t columns) {
    return value_or_throw(builder.add(ir::Expand{{rows, columns}}, {&x, 1}));
  };
  std::vector<ir::Ref> operands{wide(kQueries, depth), wide(keys, depth), wide(keys, depth)};
  if (with_bias) operands.push_back(wide(kQueries, keys));
  const auto y = value_or_throw(builder.add(ir::Attention{}, operands));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

// All into one line, which belongs to one thread.
ProgramPtr scattering() {
  ir::ProgramBuilder builder;
  constexpr auto kMany = std::int64_t{1} << 44;
  const auto x = builder.add_input(f32({1, 1}));
  const auto index = value_or_throw(builder.add(ir::Cast{ir::DType::i64}, {&x, 1}));
  const auto wide = [&](ir::Ref of, std::int64_t rows) {
    return value_or_throw(builder.add(ir::Expand{{rows, 1}}, {&of, 1}));
  };
  const ir::Ref operands[] = {wide(x, 4), wide(index, kMany), wide(x, kMany)};
  const auto y = value_or_throw(builder.add(ir::Scatter{.axis = 0, .fn = ir::ScatterFn::add}, operands));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

std::vector<Endless> endless_programs() {
  constexpr auto kHuge = std::int64_t{1} << 32;
  return {
      {"sum of all", reduction(ir::ReduceFn::sum, {0, 1}, {1, 4096}, {kHuge, 4096})},
      {"largest of rows", reduction(ir::ReduceFn::max, {0}, {1, 4096}, {kHuge, 4096})},
      {"largest of columns", reduction(ir::ReduceFn::max, {1, 2}, {64, 1, 64}, {64, kHuge, 64})},
      {"fused", fused()},
      {"pool", pooling()},
      {"scatter", scattering()},
      {"attention with a bias", attention(std::int64_t{1} << 22, 8, true)},
      {"attention without a depth", attention(std::int64_t{1} << 26, 0, false)},
  };
}

class EndlessRun : public testing::Test {
 protected:
  static std::shared_ptr<Worker> cpu() { return Worker::create(value_or_throw(backends::open_backend("cpu"))); }
  static void start(proto::Session& session, const ProgramPtr& program) {
    EXPECT_TRUE(session.define(1, program, {}).ok());
    const auto& type = program->inputs[0].type;
    EXPECT_TRUE(session.write(1, {type, SharedBytes::own(std::vector<float>(type.num_elements(), 1))}).ok());
    EXPECT_TRUE(session.run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  }
};

TEST_F(EndlessRun, EndsWithItsSession) {
  const auto worker = cpu();
  for (const auto& [name, program] : endless_programs()) {
    SCOPED_TRACE(name);
    auto session = make_local_session(worker);
    start(*session, program);
    std::promise<Status> read;
    session->read(2, [&](auto tensor) { read.set_value(tensor.status()); });
    std::this_thread::sleep_for(milliseconds{50});
    const auto begin = Clock::now();
    session->close();
    EXPECT_LT(Clock::now() - begin, kSoon);
    EXPECT_FAILS(read.get_future().get(), cancelled, "");
  }
}

TEST_F(EndlessRun, EndsWhenItsTimeIsOver) {
  const auto worker = cpu();
  for (const auto& [name, program] : endless_programs()) {
    SCOPED_TRACE(name);
    const auto session = make_local_session(worker, {.run_timeout = milliseconds{100}});
    start(*session, program);
    std::promise<Status> read;
    session->read(2, [&](auto tensor) { read.set_value(tensor.status()); });
    auto answer = read.get_future();
    ASSERT_EQ(answer.wait_for(kSoon), std::future_status::ready);
    EXPECT_FAILS(answer.get(), deadline_exceeded, "program 1: the run took longer than the 100 ms that one may");
    // The session lives.
    EXPECT_TRUE(session->define(2, add_program({4}), {}).ok());
    EXPECT_TRUE(session->write(10, tensor({4}, {1, 2, 3, 4})).ok());
    EXPECT_TRUE(session->run({.program = 2, .inputs = {10, 10}, .first_output = 11}).ok());
    std::promise<Result<proto::HostTensor>> sum;
    session->read(11, [&](auto result) { sum.set_value(std::move(result)); });
    EXPECT_EQ(values(*sum.get_future().get()), (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_EQ(worker->stats().runs_interrupted, endless_programs().size());
}

// Beside it others compute as always.
TEST_F(EndlessRun, DoesNotStopOthers) {
  const auto worker = cpu();
  const auto hog = make_local_session(worker), other = make_local_session(worker);
  start(*hog, endless_programs()[0].program);
  EXPECT_TRUE(other->define(1, add_program({1000}), {}).ok());
  EXPECT_TRUE(other->write(1, tensor({1000}, std::vector<float>(1000, 1))).ok());
  for (proto::TensorId id = 2; id < 200; ++id) {
    EXPECT_TRUE(other->run({.program = 1, .inputs = {1, 1}, .first_output = id}).ok());
  }
  std::promise<Status> done;
  other->sync([&](Status status) { done.set_value(std::move(status)); });
  auto answer = done.get_future();
  ASSERT_EQ(answer.wait_for(kSoon), std::future_status::ready);
  EXPECT_TRUE(answer.get().ok());
}

}  // namespace
}  // namespace burn::session
