// Every structured op of the catalogue, on operands of which it would have for long: its client is told in time.
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "backends/detached_work.h"
#include "backends/registry/registry.h"
#include "base/error.h"
#include "ir/catalogue.h"
#include "session/local_session.h"
#include "tests/session/expect_fails.h"
#include "tests/session/long_programs.h"

namespace burn::session {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLimit{5};      // of a run
constexpr milliseconds kGrace{2'000};  // allowed beyond kLimit; half of it is for the other tests on this machine

std::string as_test_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

class EveryOp : public testing::TestWithParam<LongProgram> {};

TEST_P(EveryOp, IsToldInTime) {
  const auto worker = Worker::create(value_or_throw(backends::open_backend("cpu")));
  auto session = make_local_session(worker, {.run_timeout = kLimit});
  auto made = GetParam().make();
  ASSERT_TRUE(session->define(1, made.program, {}).ok());
  proto::Run run{.program = 1, .first_output = 100};
  for (auto& input : made.inputs) {
    run.inputs.push_back(run.inputs.size() + 1);
    ASSERT_TRUE(session->write(run.inputs.back(), std::move(input)).ok());
  }
  std::promise<void> ready;
  session->sync([&](const Status&) { ready.set_value(); });
  ready.get_future().wait();

  const auto begin = Clock::now();
  ASSERT_TRUE(session->run(std::move(run)).ok());
  std::promise<Status> read;
  session->read(100, [&](auto tensor) { read.set_value(tensor.status()); });
  const auto status = read.get_future().get();
  EXPECT_LT(Clock::now() - begin, kLimit + kGrace);
  EXPECT_FAILS(status, deadline_exceeded, "the run took longer than the 5 ms that one may");

  const auto closing = Clock::now();
  session->close();
  session = nullptr;
  EXPECT_LT(Clock::now() - closing, kGrace) << "what is left behind holds up the end of its session";
  backends::AbandonedWork::wait_for_all();  // the next one may leave one, too
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOp, testing::ValuesIn(long_programs()),
                         [](const auto& info) { return as_test_name(info.param.name); });

TEST(LongPrograms, AreThereForEveryStructuredOp) {
  std::set<std::string> known;
  for (const auto& program : long_programs()) known.insert(program.op);
  for (const auto& op : instant_ops()) EXPECT_TRUE(known.insert(op).second) << op;
  for (const auto& entry : ir::catalogue()) {
    if (entry.tier != "structured") continue;
    EXPECT_TRUE(known.contains(entry.name)) << entry.name;
  }
}

}  // namespace
}  // namespace burn::session
