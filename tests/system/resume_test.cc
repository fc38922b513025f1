// Sessions that outlive their connections: a network that is cut, slow or silent costs time, and nothing else.
#include <chrono>
#include <csignal>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "client/record/device_state.h"
#include "net/remote/remote_session.h"
#include "tests/support/error_of.h"
#include "tests/support/eventually.h"
#include "tests/support/proxy.h"
#include "tests/support/sanitized.h"
#include "tests/system/digits_training.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::kSanitized;
using test::Proxy;
using testing::HasSubstr;

std::size_t index_of(const std::string& scheme) { return scheme == "grpc" ? 1 : 0; }

// A worker in this process with a proxy before it, on one transport.
class Resume : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string target(const server::Server& worker, const std::string& scheme) {
    return worker.urls().at(index_of(scheme)).substr(scheme.size() + 3);
  }
  std::string url() const { return GetParam() + std::string{"://"} + proxy_.address(); }
  static net::WireStats stats(const Device& device) {
    return dynamic_cast<net::RemoteSession&>(device.state()->session()).wire_stats();
  }

  static server::ServerOptions options() {
    return {.device = "cpu", .ws = "127.0.0.1:0", .grpc = "127.0.0.1:0", .session_lease = lease_};
  }

  static inline int lease_ = 30;
  server::Server worker_{options()};
  Proxy proxy_{target(worker_, GetParam())};
};

constexpr auto kPatience = 30s;

TEST_P(Resume, ATrainingWithAHundredCutsHasTheSameLosses) {
  constexpr int kSteps = kSanitized ? 60 : 300;
  constexpr std::uint64_t kCuts = kSanitized ? 20 : 100;
  const auto expected = test::losses_on(Device::new_session(url()), kSteps);
  const auto runs_of_one = worker_.session_counts().runs;
  const Device device = Device::new_session(url());
  const auto bytes = proxy_.bytes();
  proxy_.cut_randomly(bytes / (2 * kCuts), kCuts);
  const auto losses = test::losses_on(device, kSteps);
  EXPECT_EQ(losses, expected);
  EXPECT_GE(proxy_.cuts(), kCuts / 2);
  const auto counts = worker_.session_counts();
  EXPECT_EQ(counts.runs, 2 * runs_of_one) << "nothing ran twice, or not at all";
  EXPECT_EQ(stats(device).runs_sent, runs_of_one);
  EXPECT_EQ(counts.duplicates, 0u);
  EXPECT_EQ(counts.resumes, stats(device).resumes);
  EXPECT_GT(stats(device).resumes, 0u);
  RecordProperty("resumes", static_cast<int>(stats(device).resumes));
  RecordProperty("frames_resent", static_cast<int>(stats(device).frames_resent));
}

TEST_P(Resume, AnUploadAndADownloadThatAreCutArriveWhole) {
  constexpr std::int64_t kCount = (kSanitized ? 16 : 256) * (std::int64_t{1} << 20) / 4;
  const Device device = Device::new_session(url());
  std::vector<std::int32_t> numbers(kCount);
  for (std::int64_t i = 0; i < kCount; ++i)
    numbers[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i * 2654435761u);
  proxy_.cut_randomly(kCount * 4 / 12, 8, 7);
  const auto x = Tensor<1, Int>::from_data(TensorData(numbers, {kCount}), device);
  EXPECT_EQ(x.narrow(0, kCount - 1, 1).to_data().to_vec<std::int32_t>()[0], numbers.back());
  const auto cuts = proxy_.cuts();
  EXPECT_GT(cuts, 2u);
  proxy_.cut_randomly(kCount * 4 / 12, 8, 8);
  EXPECT_TRUE((x + 0).to_data().to_vec<std::int32_t>() == numbers);
  EXPECT_GT(proxy_.cuts(), cuts + 2);
  EXPECT_GT(stats(device).resumes, 4u);
}

TEST_P(Resume, ALeaseThatRunsOutIsOneClearErrorAndTheUrlMakesANewSession) {
  lease_ = 1;
  const server::Server worker{options()};
  lease_ = 30;
  Proxy proxy{target(worker, GetParam())};
  const auto url = GetParam() + std::string{"://"} + proxy.address();
  const Device old{url};
  const auto x = Tensor<1>::from_data({1, 2}, old);
  old.sync();
  proxy.refuse(true);
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return worker.session_counts().lost == 1; }, kPatience));
  auto waiting = (x + 1).to_data_async();
  auto another = (x + 2).to_data_async();
  const auto expected = HasSubstr("lease of 1 s is over");
  EXPECT_THAT(test::error_of([&] { (void)waiting.get(); }), expected);
  EXPECT_THAT(test::error_of([&] { (void)another.get(); }), expected);
  EXPECT_THAT(test::error_of([&] { old.sync(); }), expected);
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] { return worker.session_counts().lost == 0 && worker.memory_in_use() == 0; }, kPatience));
  const Device fresh{url};
  EXPECT_FALSE(fresh == old);
  EXPECT_EQ((Tensor<1>::from_data({1, 2}, fresh) + 1).to_data().to_vec<float>()[1], 3.0f);
}

TEST_P(Resume, ANewConnectionTakesThePlaceOfOneThatIsHalfOpen) {
  const Device device = Device::new_session(url());
  const auto x = Tensor<1>::from_data({1, 2}, device);
  device.sync();
  const auto& session = dynamic_cast<net::RemoteSession&>(device.state()->session());
  proxy_.stall(true);
  auto later = (x + 1).to_data_async();
  std::this_thread::sleep_for(50ms);
  proxy_.cut();
  proxy_.stall(false);
  EXPECT_EQ(later.get().to_vec<float>()[1], 3.0f);
  EXPECT_EQ(session.wire_stats().resumes, 1u);
}

TEST_P(Resume, StatsAreAskedForAgain) {
  const Device device = Device::new_session(url());
  device.sync();
  proxy_.stall(true);
  auto later = std::async(std::launch::async, [&] { return device.stats(); });
  std::this_thread::sleep_for(50ms);
  proxy_.cut();
  proxy_.stall(false);
  EXPECT_GT(later.get().device.memory_limit, 0u);
  EXPECT_EQ(stats(device).resumes, 1u);
}

TEST_P(Resume, WithoutALeaseASessionEndsWithItsConnection) {
  lease_ = 0;
  const server::Server worker{options()};
  lease_ = 30;
  Proxy proxy{target(worker, GetParam())};
  const Device device = Device::new_session(GetParam() + std::string{"://"} + proxy.address());
  const auto x = Tensor<1>::from_data({1, 2}, device);
  device.sync();
  proxy.cut();
  EXPECT_THAT(test::error_of([&] { (void)(x + 1).to_data(); }), HasSubstr("lost connection to"));
  EXPECT_TRUE(eventually([&] { return worker.connections() == 0; }, kPatience));
  EXPECT_EQ(worker.memory_in_use(), 0u);
}

TEST_P(Resume, ClosingEndsTheSessionAtOnce) {
  {
    const Device device = Device::new_session(url());
    (void)Tensor<1>::from_data({1, 2}, device).to_data();
    proxy_.cut();
    (void)Tensor<1>::from_data({1, 2}, device).to_data();
  }
  EXPECT_TRUE(eventually([&] { return worker_.connections() == 0 && worker_.memory_in_use() == 0; }, kPatience));
  EXPECT_EQ(worker_.session_counts().lost, 0u);
  EXPECT_EQ(worker_.session_counts().resumes, 1u);
}

TEST_P(Resume, MoreStepsAreAheadOfADeviceThatIsFarAway) {
  proxy_.delay(20ms);
  const Device device = Device::new_session(url());
  auto x = Tensor<1>::zeros({4}, device);
  for (int step = 0; step < 400; ++step) {
    device.state()->pace();
    x = x + 1;
    device.flush();
  }
  EXPECT_GT(device.state()->steps_ahead(), 2 * client::Pacer::kMaxAhead);
  EXPECT_LE(device.state()->steps_ahead(), client::Pacer::kMaxAheadFarAway);
  EXPECT_EQ(x.to_data().to_vec<float>()[3], 400.0f);
}

INSTANTIATE_TEST_SUITE_P(OverTcp, Resume, ::testing::Values("ws", "grpc"), test::kSchemeName);

// Both transports at once, as it takes half a minute.
TEST(PulledCable, IsNoticedByTheClientWhichGoesOnOverAnotherConnection) {
  const server::Server worker({.device = "cpu", .ws = "127.0.0.1:0", .grpc = "127.0.0.1:0"});
  std::vector<std::thread> threads;
  for (const std::string scheme : {"ws", "grpc"}) {
    threads.emplace_back([&worker, scheme] {
      Proxy proxy{worker.urls().at(index_of(scheme)).substr(scheme.size() + 3)};
      const Device device = Device::new_session(scheme + "://" + proxy.address());
      const auto x = Tensor<1>::from_data({1, 2}, device);
      device.sync();
      proxy.stall_current();
      std::this_thread::sleep_for(100ms);
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ((x + 1).to_data().to_vec<float>()[1], 3.0f) << scheme;
      EXPECT_GT(std::chrono::steady_clock::now() - start, 5s) << scheme;  // the cable was pulled
      EXPECT_LT(std::chrono::steady_clock::now() - start, 60s)
          << scheme;  // 40 s, as docs/sessions.md says, and a slow machine
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(worker.session_counts().resumes, 2u);
}

// Answers whatever is read with the same numbers.
class LyingSession final : public proto::Session {
 public:
  explicit LyingSession(proto::HostTensor answer) : answer_(std::move(answer)) {}
  const proto::SessionInfo& info() const override { return info_; }
  Status define(proto::ProgramId, std::shared_ptr<const ir::Program>, std::vector<proto::ProgramId>) override {
    return {};
  }
  Status run(proto::Run) override { return {}; }
  Status write(proto::TensorId, proto::HostTensor, proto::WriteOptions) override { return {}; }
  Status release(std::vector<proto::TensorId>) override { return {}; }
  void read(proto::TensorId, ReadCallback done) override { done(answer_); }
  void sync(SyncCallback done) override { done({}); }
  void close() override {}

 private:
  const proto::SessionInfo info_{.server = "liar", .session = "s", .devices = {"cpu"}, .max_tensor_bytes = 1 << 30};
  const proto::HostTensor answer_;
};

TEST(LyingSession, AnAnswerThatIsNotTheTensorIsAnError) {
  const auto bytes = [](std::size_t size) { return SharedBytes::own(std::vector<std::byte>(size)); };
  const ir::TensorType asked{ir::DType::f32, {4}};
  for (const auto& [type, size] : std::vector<std::pair<ir::TensorType, std::size_t>>{{asked, 0},
                                                                                      {asked, 15},
                                                                                      {asked, 17},
                                                                                      {{ir::DType::f32, {1}}, 4},
                                                                                      {{ir::DType::f32, {5}}, 20},
                                                                                      {{ir::DType::i32, {4}}, 16},
                                                                                      {{ir::DType::f64, {4}}, 32},
                                                                                      {{ir::DType::f32, {2, 2}}, 16},
                                                                                      {{ir::DType::f32, {0}}, 0}}) {
    const auto device =
        Device::from_session("liar://", std::make_unique<LyingSession>(proto::HostTensor{type, bytes(size)}));
    const auto x = Tensor<1>::from_data({1, 2, 3, 4}, device);
    EXPECT_THAT(test::error_of([&] { (void)x.to_data(); }), HasSubstr("liar:// answers a read of f32[4] with "));
  }
  const auto device =
      Device::from_session("liar://", std::make_unique<LyingSession>(proto::HostTensor{asked, bytes(16)}));
  EXPECT_EQ(Tensor<1>::from_data({1, 2, 3, 4}, device).to_data().to_vec<float>().size(), 4u);
}

class StoppedWorker : public ::testing::TestWithParam<const char*> {};

TEST_P(StoppedWorker, GoesOn) {
  test::Worker worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  const auto x = Tensor<1>::from_data({1, 2}, device);
  device.sync();
  ::kill(worker.process(), SIGSTOP);
  ASSERT_EQ(::waitpid(worker.process(), nullptr, WUNTRACED), worker.process());  // it has stopped
  auto later = (x + 1).to_data_async();
  EXPECT_EQ(later.wait_for(10s), std::future_status::timeout);
  ::kill(worker.process(), SIGCONT);
  EXPECT_EQ(later.get().to_vec<float>()[1], 3.0f);
}

TEST_P(StoppedWorker, ThatIsKilledIsAnErrorAtOnce) {
  test::Worker worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  const auto x = Tensor<1>::from_data({1, 2}, device);
  device.sync();
  worker.kill();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(test::error_of([&] { (void)(x + 1).to_data(); }), HasSubstr("the session ended with its server"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);  // not the lease
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, StoppedWorker, ::testing::ValuesIn(test::kNetworkSchemes),
                         test::kSchemeName);

}  // namespace
}  // namespace burn
