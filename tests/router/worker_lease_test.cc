// What connections between a router and its workers that break do to sessions: nothing, if the router was given a lease
// for them; and that sessions without a client do not stay.
#include <chrono>
#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/router/routed.h"
#include "tests/server/process.h"
#include "tests/session/programs.h"
#include "tests/support/eventually.h"
#include "tests/support/proxy.h"

namespace burn::router {
namespace {

using namespace std::chrono_literals;
using session::add_program;
using session::tensor;
using session::values;
using test::eventually;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kPatience = 10s;

std::string address(const server::Server& worker) { return worker.url().substr(std::string{"ws://"}.size()); }

// Two workers behind networks whose connections can be cut.
class WorkerLease : public ::testing::Test {
 protected:
  RouterOptions options(std::chrono::seconds lease) const {
    auto options = router_options({"ws://" + to_a_.address(), "ws://" + to_b_.address()});
    options.worker_lease = lease;
    return options;
  }
  void cut() {
    to_a_.cut();
    to_b_.cut();
  }

  server::Server a_{worker_options()}, b_{worker_options()};
  test::Proxy to_a_{address(a_)}, to_b_{address(b_)};
};

// Doubles what there is of a batch, again and again.
TEST_F(WorkerLease, ASessionOnAllWorkersOutlivesCutConnections) {
  Router router{options(20s)};
  const auto session = connect(router.url(), {.lease_seconds = 0});
  ASSERT_TRUE(session->define(1, add_program({4}), {}).ok());
  ASSERT_TRUE(session->write(1, tensor({4}, {1, 2, 3, 4}), {.batch_axis = 0}).ok());
  constexpr proto::TensorId kTimes = 20;
  for (proto::TensorId id = 1; id <= kTimes; ++id) {
    ASSERT_TRUE(session->run({.program = 1, .inputs = {id, id}, .first_output = id + 1, .release = {id}}).ok());
    if (id % 4 == 0) cut();
    if (id % 8 == 0) {
      const auto done = sync(*session);
      ASSERT_TRUE(done.ok()) << id << ": " << done.message();
    }
  }
  constexpr float kDoubled = 1 << kTimes;
  EXPECT_THAT(values(value_or_throw(read(*session, kTimes + 1))),
              ElementsAre(kDoubled, 2 * kDoubled, 3 * kDoubled, 4 * kDoubled));
  EXPECT_GE(a_.session_counts().resumes + b_.session_counts().resumes, 2u);
  EXPECT_EQ(a_.session_counts().runs, kTimes) << "each once";
}

TEST_F(WorkerLease, WithoutOneACutConnectionIsTheEndWithinASecond) {
  Router router{options(0s)};
  const auto session = connect(router.url(), {.lease_seconds = 0});
  ASSERT_TRUE(session->write(1, tensor({2}, {1, 2}), {.batch_axis = 0}).ok());
  ASSERT_TRUE(sync(*session).ok());
  const auto cut_at = std::chrono::steady_clock::now();
  cut();
  const auto why = read(*session, 1).status();
  EXPECT_LT(std::chrono::steady_clock::now() - cut_at, 1s);
  EXPECT_EQ(why.code(), StatusCode::unavailable);
  EXPECT_THAT(why.message(), AnyOf(HasSubstr(to_a_.address()), HasSubstr(to_b_.address())));
}

// A worker that has ended is not waited for.
TEST_F(WorkerLease, AWorkerThatHasEndedIsTheEndBeforeItIsOver) {
  Router router{options(60s)};
  const auto session = connect(router.url(), {.lease_seconds = 0});
  ASSERT_TRUE(session->write(1, tensor({2}, {1, 2}), {.batch_axis = 0}).ok());
  ASSERT_TRUE(sync(*session).ok());
  b_.stop();
  const auto stopped_at = std::chrono::steady_clock::now();
  EXPECT_EQ(read(*session, 1).status().code(), StatusCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - stopped_at, 5s);
}

// --- clients that do not come back -----------------------------------------------------------------------------------

TEST(SessionsWithoutAClient, StayOnTheWorkersForTheRoutersLeaseAndNoLonger) {
  server::Server a{worker_options()}, b{worker_options()};
  auto options = router_options({a.url(), b.url()});
  options.service.session_lease = 1s;
  options.service.hello_timeout = 1s;  // so often an idle daemon looks at its leases
  Router router{options};
  test::Proxy to_router{router.url().substr(5)};
  const auto links = a.sessions();
  for (const std::string device : {"", "/1"}) {
    SCOPED_TRACE("device " + device);
    const auto session = connect("ws://" + to_router.address() + device);
    const auto marks = device.empty() ? proto::WriteOptions{.batch_axis = 0} : proto::WriteOptions{};
    ASSERT_TRUE(session->write(1, tensor({2}, {1, 2}), marks).ok());
    ASSERT_TRUE(sync(*session).ok());
    to_router.cut();
    EXPECT_THAT(values(value_or_throw(read(*session, 1))), ElementsAre(1, 2)) << "it comes back";
    to_router.refuse(true);
    to_router.cut();
    EXPECT_EQ(a.sessions(), links + 1) << "kept meanwhile";
    EXPECT_TRUE(eventually(
        [&] {
          return router.sessions() == 0 && a.sessions() == links && b.sessions() == links &&
                 a.memory_in_use() + b.memory_in_use() == 0;
        },
        kPatience));
    to_router.refuse(false);
  }
}

TEST(SessionsWithoutAClient, OfARouterThatWasKilledEndAtOnce) {
  server::Server a{worker_options()}, b{worker_options()};
  server::Process router{
      {BURN_ROUTER, "--worker", a.url(), "--worker", b.url(), "--ws", "127.0.0.1:0", "--grpc", "off"}};
  const auto line = router.read_line();
  const auto session = connect(line.substr(line.find(' ') + 1), {.lease_seconds = 0});
  ASSERT_TRUE(session->write(1, tensor({2}, {1, 2}), {.batch_axis = 0}).ok());
  ASSERT_TRUE(sync(*session).ok());
  EXPECT_GT(a.memory_in_use(), 0u);
  router.send(SIGKILL);
  const auto are_over = [&] { return a.sessions() + b.sessions() == 0 && a.memory_in_use() + b.memory_in_use() == 0; };
  EXPECT_TRUE(eventually(are_over, 1s));
}

}  // namespace
}  // namespace burn::router
