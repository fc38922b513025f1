// A worker with many tenants, sessions and scrapes: quotas, shares, counts and answers of the operator's port under
// load.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/tenant_rules.h"
#include "tests/server/operated_server.h"
#include "tests/session/answers.h"
#include "tests/support/temp_folder.h"

namespace burn::server {

using namespace session;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using Sessions = std::vector<std::unique_ptr<net::RemoteSession>>;

std::string name_of(int tenant) { return fmt::format("t{}", tenant); }

// A tenant's table: `keys` are further lines of it. Its token is its name.
std::string table(const std::string& tenant, const std::string& keys = {}) {
  std::string digest;
  for (const unsigned byte : daemon::digest_of_token(tenant)) digest += fmt::format("{:02x}", byte);
  return fmt::format("[[tenant]]\nname = \"{}\"\ntokens = [\"sha256:{}\"]\n{}\n", tenant, digest, keys);
}

std::unique_ptr<net::RemoteSession> open(const OperatedServer& server, const std::string& tenant) {
  net::ConnectOptions options{.timeout_seconds = 60};
  options.token = tenant;
  return value_or_throw(net::connect(server.url(), options));
}

double value(const OperatedServer& server, const std::string& series) {
  const auto text = server.metric(series);
  return text.empty() ? 0 : std::stod(text);
}

double device_seconds(const OperatedServer& server, const std::string& tenant) {
  return value(server, fmt::format("burn_tenant_device_seconds_total{{tenant=\"{}\"}}", tenant));
}

class Load : public testing::Test {
 protected:
  void start(const std::string& tenants, std::vector<std::string> more = {}) {
    const auto path = folder_.path() / "tenants.toml";
    std::ofstream{path} << tenants;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    more.insert(more.end(), {"--tenants", path, "--sessions", "4000", "--sessions-per-peer", "4000"});
    server_ = std::make_unique<OperatedServer>(more);
  }
  OperatedServer& server() { return *server_; }

 private:
  test::TempFolder folder_;
  std::unique_ptr<OperatedServer> server_;
};

// Computes without a pause, from a thread of its own, a few runs ahead of the worker. Runs are products of matrices,
// which take some milliseconds of a core and hardly any memory, so that what is between two runs is little beside them.
class BusySession {
 public:
  BusySession(const OperatedServer& server, const std::string& tenant) : session_(open(server, tenant)) {
    EXPECT_TRUE(session_->define(1, product_program(), {}).ok());
    EXPECT_TRUE(session_->write(1, tensor({kSize, kSize}, std::vector<float>(kSize * kSize, 1.0f / kSize))).ok());
    thread_ = std::thread{[this] {
      std::future<Status> done;
      for (proto::TensorId id = 2; !is_over_; id += kRuns) {
        for (proto::TensorId k = id; k < id + kRuns; ++k) {
          (void)session_->run({.program = 1, .inputs = {1}, .first_output = k});
          (void)session_->release({k});
        }
        const auto promise = std::make_shared<std::promise<Status>>();
        session_->sync([promise](Status status) { promise->set_value(std::move(status)); });
        auto before = std::exchange(done, promise->get_future());
        if (before.valid() && !wait(before)) return;
      }
      if (done.valid()) (void)wait(done);
    }};
  }
  ~BusySession() {
    is_over_ = true;
    session_->close();  // cancels what waits: a low tenant's run does, for as long as normal ones have any
    thread_.join();
  }
  BusySession(const BusySession&) = delete;
  BusySession& operator=(const BusySession&) = delete;

 private:
  static constexpr std::int64_t kSize = 512;
  static constexpr proto::TensorId kRuns = 8;  // that are sent while as many wait

  // x x x x, of a matrix.
  static ProgramPtr product_program() {
    ir::ProgramBuilder builder;
    const auto x = builder.add_input(f32({kSize, kSize}));
    auto product = x;
    for (int k = 0; k < 3; ++k) {
      const ir::Ref operands[] = {product, x};
      product = value_or_throw(builder.add(ir::MatMul{}, operands));
    }
    return std::make_shared<const ir::Program>(builder.finish({product}));
  }
  bool wait(std::future<Status>& done) const {
    const auto status = done.get();
    EXPECT_TRUE(status.ok() || is_over_) << status.to_string();
    return status.ok();
  }

  const std::unique_ptr<net::RemoteSession> session_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

TEST_F(Load, AThousandSessionsOfTenTenantsHaveTheirQuotas) {
  constexpr int kTenants = 10, kSessions = 100;
  constexpr std::size_t kBytes = 4096, kFit = 60;  // of a tensor; tensors that a tenant may hold
  std::string tenants;
  for (int k = 0; k < kTenants; ++k)
    tenants += table(name_of(k), fmt::format("sessions = {}\nmemory = {}", kSessions, kFit * kBytes + 100));
  start(tenants);
  std::vector<Sessions> sessions(kTenants);
  for (int k = 0; k < kSessions; ++k) {
    for (int tenant = 0; tenant < kTenants; ++tenant) sessions[tenant].push_back(open(server(), name_of(tenant)));
  }
  EXPECT_EQ(server().metric("burn_sessions{state=\"connected\"}"), "1000");
  for (int tenant = 0; tenant < kTenants; ++tenant) {
    const auto name = name_of(tenant);
    net::ConnectOptions options{.timeout_seconds = 10};
    options.token = name;
    EXPECT_THAT(net::connect(server().url(), options).status().message(),
                HasSubstr(fmt::format("tenant {} may have {} sessions", name, kSessions)));
    std::size_t held = 0;
    for (const auto& session : sessions[tenant]) {
      ASSERT_TRUE(session->write(1, tensor({kBytes / 4}, std::vector<float>(kBytes / 4, 1))).ok());
      const auto read = session::read(*session, 1);
      if (read.ok()) ++held;
      if (!read.ok()) {
        EXPECT_THAT(read.status().message(), HasSubstr("may hold together"));
      }
    }
    EXPECT_EQ(held, kFit) << name;
    EXPECT_EQ(server().metric(fmt::format("burn_tenant_sessions{{tenant=\"{}\"}}", name)), "100");
    EXPECT_EQ(value(server(), fmt::format("burn_tenant_memory_bytes{{tenant=\"{}\"}}", name)), kFit * kBytes);
    ASSERT_TRUE(sessions[tenant].front()->write(2, tensor({25}, std::vector<float>(25, 1))).ok());
    EXPECT_TRUE(session::read(*sessions[tenant].front(), 2).ok()) << "the last 100 bytes";
    ASSERT_TRUE(sessions[tenant].front()->write(3, tensor({1}, {1})).ok());
    EXPECT_FALSE(session::read(*sessions[tenant].front(), 3).ok()) << "not one byte more";
  }
}

TEST_F(Load, WeightsOf1And2And4GiveSuchShares) {
  start(table("one", "weight = 1") + table("two", "weight = 2") + table("four", "weight = 4"), {"--threads", "1"});
  const std::array<std::string, 3> names{"one", "two", "four"};
  std::vector<std::unique_ptr<BusySession>> busy;
  // Four sessions each: a tenant of one alone does not wait while its session takes up the next run.
  for (int k = 0; k < 12; ++k) busy.push_back(std::make_unique<BusySession>(server(), names[k % 3]));
  std::this_thread::sleep_for(1s);
  std::array<double, 3> seconds{};
  const auto busy_seconds = [&] { return value(server(), "burn_device_busy_seconds_total{device=\"cpu\"}"); };
  auto device = -busy_seconds();
  for (int k = 0; k < 3; ++k) seconds[k] = -device_seconds(server(), names[k]);
  std::this_thread::sleep_for(30s);
  device += busy_seconds();
  for (int k = 0; k < 3; ++k) seconds[k] += device_seconds(server(), names[k]);
  const auto all = seconds[0] + seconds[1] + seconds[2];
  std::cout << fmt::format("shares of weights 1, 2, 4: {:.3f}, {:.3f}, {:.3f} of {:.1f} s; device busy for {:.1f} s\n",
                           seconds[0] / all, seconds[1] / all, seconds[2] / all, all, device);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(seconds[k] / all, (1 << k) / 7.0, 0.1 * (1 << k) / 7.0) << names[k];
  // Twelve sessions wait nearly all of the 30 s. What is counted beside their turns is little.
  EXPECT_LT(device, 1.25 * all) << "sessions that wait for their turn do not make a device busy";
  EXPECT_GT(device, 0.95 * all);
}

TEST_F(Load, ALowTenantTakesLittleBesideANormalOne) {
  start(table("normal") + table("low", "class = \"low\""), {"--threads", "1"});
  const BusySession first{server(), "normal"}, second{server(), "normal"}, third{server(), "normal"};
  std::this_thread::sleep_for(1s);
  double alone = 0, beside = 0, low = 0;
  for (int round = 0; round < 5; ++round) {
    auto before = device_seconds(server(), "normal");
    std::this_thread::sleep_for(2s);
    alone += device_seconds(server(), "normal") - before;
    const BusySession other{server(), "low"};
    const auto low_before = device_seconds(server(), "low");
    before = device_seconds(server(), "normal");
    std::this_thread::sleep_for(2s);
    beside += device_seconds(server(), "normal") - before;
    low += device_seconds(server(), "low") - low_before;
  }
  std::cout << fmt::format("low beside normal: {:.1f} % of the device; normal has {:.3f} of what it has alone\n",
                           100 * low / (low + beside), beside / alone);
  EXPECT_LT(low / (low + beside), 0.05);
}

TEST_F(Load, CountsWhatHasHappenedAThousandTimes) {
  constexpr int kTimes = 1000;
  start(table("one", "sessions = 2") + table("two"));
  const auto held = open(server(), "one");
  for (int k = 0; k < kTimes; ++k) {
    const auto session = open(server(), "two");
    ASSERT_TRUE(session->define(1, add_program({2}), {}).ok());
    ASSERT_TRUE(session->write(1, tensor({2}, {1, 2})).ok());
    ASSERT_TRUE(session->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
    ASSERT_TRUE(session->run({.program = 1, .inputs = {1, 99}, .first_output = 3}).ok());  // there is no tensor 99
    ASSERT_TRUE(session::read(*session, 2).ok());
    ASSERT_FALSE(session::read(*session, 3).ok());
  }
  const auto second = open(server(), "one");
  net::ConnectOptions options{.timeout_seconds = 10};
  for (int k = 0; k < kTimes; ++k) {
    options.token = "one";
    ASSERT_EQ(net::connect(server().url(), options).status().code(), StatusCode::resource_exhausted);
    options.token = "three";
    ASSERT_EQ(net::connect(server().url(), options).status().code(), StatusCode::unauthenticated);
  }
  expect_metric(server(), "burn_sessions_opened_total", std::to_string(kTimes + 2));
  expect_metric(server(), "burn_sessions_closed_total{reason=\"client\"}", std::to_string(kTimes));
  expect_metric(server(), "burn_runs_total{device=\"cpu\"}",
                std::to_string(kTimes));  // none of those without their input
  expect_metric(server(), "burn_admissions_refused_total{reason=\"limit\"}", std::to_string(kTimes));
  expect_metric(server(), "burn_admissions_refused_total{reason=\"token\"}", std::to_string(kTimes));
  expect_metric(server(), "burn_tenant_sessions{tenant=\"one\"}", "2");
  expect_metric(server(), "burn_tenant_sessions{tenant=\"two\"}", "0");
}

// How many series a scrape has, and how long it takes: the median of 21.
std::pair<std::size_t, double> scrape(const OperatedServer& server) {
  std::vector<double> milliseconds;
  std::string text;
  for (int k = 0; k < 21; ++k) {
    const auto before = Clock::now();
    text = server.get("/metrics").body;
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  }
  std::ranges::nth_element(milliseconds, milliseconds.begin() + 10);
  std::size_t series = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) series += text[at] == '#' ? 0 : 1;
  return {series, milliseconds[10]};
}

TEST_F(Load, TheSeriesOf256TenantsAnd8DevicesAreFew) {
  std::string tenants;
  for (int k = 0; k < 256; ++k) tenants += table(name_of(k));
  start(tenants, {"--device", "cpu"});
  for (int k = 0; k < 256; ++k) (void)open(server(), name_of(k));
  const auto one = scrape(server());
  start(tenants, {"--device", "cpu,null"});
  for (int k = 0; k < 256; ++k) (void)open(server(), name_of(k));
  const auto two = scrape(server());
  const auto eight = one.first + 7 * (two.first - one.first);
  std::cout << fmt::format(
      "256 tenants: {} series with one device, {} with two, so {} with eight; a scrape {:.1f} ms\n", one.first,
      two.first, eight, two.second);
  EXPECT_GT(two.first, one.first);
  EXPECT_LT(eight, 4000u);
  EXPECT_LT(two.second, 15);
}

TEST_F(Load, HealthIsAnsweredBeside16ComputingSessions) {
  start(table("one"));
  std::vector<std::unique_ptr<BusySession>> busy;
  for (int k = 0; k < 16; ++k) busy.push_back(std::make_unique<BusySession>(server(), "one"));
  std::vector<double> milliseconds;
  for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(20ms)) {
    const auto before = Clock::now();
    EXPECT_EQ(server().get("/healthz").status, 200);
    milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  }
  std::ranges::sort(milliseconds);
  const auto p99 = milliseconds[milliseconds.size() * 99 / 100];
  std::cout << fmt::format("/healthz beside 16 sessions that compute: p50 {:.1f} ms, p99 {:.1f} ms of {} requests\n",
                           milliseconds[milliseconds.size() / 2], p99, milliseconds.size());
  EXPECT_LT(p99, 150);
}

}  // namespace
}  // namespace burn::server
