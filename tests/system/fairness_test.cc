// Sessions take turns: while other sessions work endlessly, the 99th percentile of the round trip of a small run is at
// most three times that of the run alone plus the time of one piece of the other work.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/time_slice.h"
#include "net/remote/remote_session.h"
#include "tests/session/programs.h"
#include "tests/support/sanitized.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

using session::f32;
using session::ProgramPtr;
using Clock = std::chrono::steady_clock;

// The test's machine is busy with other work, so timings vary from second to second. Real unfairness shows in every
// try.
constexpr int kTries = 6;
constexpr int kRoundTrips = 200;
// Sanitizers slow some of the work down by ten times and some by one.
constexpr double kSlack = test::kSanitized ? 10 : 1;

Status sync(proto::Session& session) {
  std::promise<Status> done;
  session.sync([&](Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

double milliseconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double percentile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part)];
}

// x + x + ..., `nodes` times.
ir::Program chain(int nodes) {
  ir::ProgramBuilder builder;
  auto x = builder.add_input(f32({1}));
  for (int i = 0; i < nodes; ++i) {
    const ir::Ref both[] = {x, x};
    x = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, both));
  }
  return builder.finish({x});
}

// A kind of endless work: `one` starts its turn-th piece; no piece leaves more memory in use than the others.
struct Neighbour {
  std::string name;
  int sessions = 1;
  int ahead = 1;  // pieces that a session starts before it waits
  std::function<void(proto::Session&)> prepare;
  std::function<void(proto::Session&, proto::TensorId turn)> one;
  bool unmet = false;  // some runs exceed the limit: reported, but not as a failure
};

constexpr std::int64_t kMany = 8 << 20;  // 32 MiB of numbers; a run over them moves 96

void prepare_runs(proto::Session& session) {
  EXPECT_TRUE(session.define(1, session::add_program({kMany}), {}).ok());
  EXPECT_TRUE(session.write(1, session::tensor({kMany}, std::vector<float>(kMany, 1))).ok());
}
void run_one(proto::Session& session, proto::TensorId turn) {
  proto::Run run{.program = 1, .inputs = {1, 1}, .first_output = turn + 2};
  if (turn > 0) run.release = {turn + 1};
  EXPECT_TRUE(session.run(std::move(run)).ok());
}
// Defines a different program each time, so that it has to be compiled.
void define_one(proto::Session& session, proto::TensorId turn) {
  static std::atomic<int> nodes = 10'000;
  const auto program = std::make_shared<const ir::Program>(chain(++nodes));
  std::vector<proto::ProgramId> forget;
  if (turn > 0) forget = {turn};
  EXPECT_TRUE(session.define(turn + 1, program, std::move(forget)).ok());
}
// Defines an invalid program; the error is only found at the last node, whose operand does not exist.
void define_a_wrong_one(proto::Session& session, proto::TensorId turn) {
  static const auto program = [] {
    auto wrong = chain(100'000);
    wrong.operands.back() = ir::Ref::value(1 << 29);
    return std::make_shared<const ir::Program>(std::move(wrong));
  }();
  EXPECT_TRUE(session.define(turn + 1, program, {}).ok());
}
void upload_one(proto::Session& session, proto::TensorId turn) {
  static const auto bytes = SharedBytes::own(std::vector<float>(kMany, 1));
  EXPECT_TRUE(session.write(turn + 1, {f32({kMany}), bytes}).ok());
  if (turn > 0) {
    EXPECT_TRUE(session.release({turn}).ok());
  }
}

const std::vector<Neighbour>& neighbours() {
  static const std::vector<Neighbour> all = {
      {"LargeRuns", 1, 8, prepare_runs, run_one},
      {"SeveralWithLargeRuns", 4, 8, prepare_runs, run_one, true},
      {"ProgramsThatAreCompiled", 2, 2, [](proto::Session&) {}, define_one},
      {"ProgramsThatAreWrong", 2, 1, [](proto::Session&) {}, define_a_wrong_one},
      {"Uploads", 2, 2, [](proto::Session&) {}, upload_one},
  };
  return all;
}

// Does one neighbour's work until it is told to stop.
class AtWork {
 public:
  AtWork(const Neighbour& neighbour, const std::string& url) {
    for (int k = 0; k < neighbour.sessions; ++k) {
      threads_.emplace_back([this, &neighbour, url] {
        const auto session = value_or_throw(net::connect(url));
        neighbour.prepare(*session);
        for (proto::TensorId turn = 0; !done_; ++turn) {
          neighbour.one(*session, turn);
          if (turn % static_cast<proto::TensorId>(neighbour.ahead) == 0) (void)sync(*session);  // fails if invalid
          ++pieces_;
        }
        (void)sync(*session);
      });
    }
    while (pieces_ < 2 * neighbour.sessions) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  ~AtWork() {
    done_ = true;
    for (auto& thread : threads_) thread.join();
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  int pieces() const { return pieces_; }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<int> pieces_ = 0;
  std::vector<std::thread> threads_;
};

// What one piece takes with the worker to itself, in milliseconds: the median of some.
double time_of_one(const Neighbour& neighbour, const std::string& url) {
  const auto session = value_or_throw(net::connect(url));
  neighbour.prepare(*session);
  (void)sync(*session);
  std::vector<double> times;
  for (proto::TensorId turn = 0; turn < 5; ++turn) {
    times.push_back(milliseconds_of([&] {
      neighbour.one(*session, turn);
      (void)sync(*session);
    }));
  }
  return percentile(times, 0.5);
}

class SmallRuns {
 public:
  explicit SmallRuns(const std::string& url) : session_(value_or_throw(net::connect(url))) {
    EXPECT_TRUE(session_->define(1, session::add_program({2}), {}).ok());
    EXPECT_TRUE(session_->write(1, session::tensor({2}, {1, 2})).ok());
  }
  // The times of round trips, in milliseconds.
  std::vector<double> times() {
    std::vector<double> times;
    for (int i = 0; i < kRoundTrips; ++i) times.push_back(milliseconds_of([&] { expect_one(); }));
    return times;
  }

 private:
  void expect_one() {
    const auto id = ++last_;
    EXPECT_TRUE(session_->run({.program = 1, .inputs = {1, 1}, .first_output = id}).ok());
    std::promise<Result<proto::HostTensor>> done;
    session_->read(id, [&](auto tensor) { done.set_value(std::move(tensor)); });
    const auto sum = done.get_future().get();
    ASSERT_TRUE(sum.ok()) << sum.status().to_string();
    EXPECT_EQ(session::values(*sum), (std::vector<float>{2, 4}));
    EXPECT_TRUE(session_->release({id}).ok());
  }

  const std::unique_ptr<proto::Session> session_;
  proto::TensorId last_ = 1;
};

// Linux before 6.12 does not, and where a core is wanted by several the wait for it is milliseconds.
bool grants_brief_turns() {
  bool is_granted = false;
  std::thread([&] {
    request_time_slice(TimeSlice::brief);
    is_granted = has_brief_time_slice();
  }).join();
  return is_granted;
}

class Fairness : public testing::TestWithParam<std::tuple<std::size_t, const char*>> {};

TEST_P(Fairness, OfTurnsForSmallRuns) {
  const auto& neighbour = neighbours()[std::get<0>(GetParam())];
  test::Worker worker;
  const auto& url = worker.url(std::get<1>(GetParam()));
  SmallRuns small(url);
  std::string tries;
  for (int k = 0; k < kTries; ++k) {
    const double one = time_of_one(neighbour, url);
    const auto alone = small.times();
    std::vector<double> beside;
    int pieces = 0;
    {
      const AtWork at_work(neighbour, url);
      const int before = at_work.pieces();
      const auto until = Clock::now() + std::chrono::milliseconds{static_cast<int>(one)};
      do {
        const auto more = small.times();
        beside.insert(beside.end(), more.begin(), more.end());
      } while (at_work.pieces() == before || Clock::now() < until);  // else no piece ran at the same time
      pieces = at_work.pieces() - before;
    }
    const double limit = kSlack * (3 * percentile(alone, 0.99) + one);
    const auto line = fmt::format(
        "alone: median {:.3f} ms, 99% {:.3f} ms; one piece {:.2f} ms; beside {} pieces: median {:.3f} ms, 99% {:.3f} "
        "of {:.3f} ms, longest {:.2f} ms\n",
        percentile(alone, 0.5), percentile(alone, 0.99), one, pieces, percentile(beside, 0.5), percentile(beside, 0.99),
        limit, percentile(beside, 1));
    fmt::print("{}", line);
    if (percentile(beside, 0.99) <= limit) return;
    tries += line;
  }
  if (!grants_brief_turns()) GTEST_SKIP() << "this system has turns of one length for all threads:\n" << tries;
  if (neighbour.unmet) GTEST_SKIP() << "missed, as now and then:\n" << tries;
  FAIL() << tries;
}

INSTANTIATE_TEST_SUITE_P(Beside, Fairness,
                         testing::Combine(testing::Range(std::size_t{0}, neighbours().size()),
                                          testing::Values("ws", "grpc")),
                         [](const auto& info) {
                           return neighbours()[std::get<0>(info.param)].name + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace burn
