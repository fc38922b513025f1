// Workers that end and are replaced, one after the other, behind one name: what clients notice of it.
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include "base/error.h"
#include "burn/burn.h"
#include "client/notice.h"
#include "client/record/device_state.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/support/error_of.h"
#include "tests/support/eventually.h"
#include "tests/support/proxy.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace {

// The addresses of "workers.test", which no name service knows.
std::vector<std::string>& addresses_of_name() {
  static std::vector<std::string> addresses;
  return addresses;
}

}  // namespace

// In place of the C library's: it is asked for each of the addresses in turn.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  using LookUp = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto look_up = reinterpret_cast<LookUp>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || std::string_view{name} != "workers.test") return look_up(name, service, hints, found);
  addrinfo** end = found;
  for (const auto& address : addresses_of_name()) {
    if (const int failed = look_up(address.c_str(), service, hints, end); failed != 0) return failed;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return 0;
}

namespace burn {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::eventually;
using testing::HasSubstr;

constexpr auto kPatience = 30s;

// Workers at 127.0.0.1, 127.0.0.2, ... and one port, which is the name "workers.test".
class Drain : public ::testing::Test {
 protected:
  static constexpr int kDrainSeconds = 20;

  void TearDown() override { addresses_of_name().clear(); }

  void start(int count) {
    for (int tries = 0; tries < 20 && workers_.size() < static_cast<std::size_t>(count); ++tries) {
      workers_.clear();
      port_ = "0";
      try {
        for (int k = 0; k < count; ++k) start_one(k);
      } catch (const Error&) {  // the port is taken at one of the addresses
        continue;
      }
    }
    ASSERT_EQ(workers_.size(), static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) addresses_of_name().push_back(address(k));
  }

  void start_one(int k, std::vector<std::string> advertise = {}) {
    workers_[k] = std::make_unique<server::Server>(server::ServerOptions{.device = "cpu",
                                                                         .ws = address(k) + ":" + port_,
                                                                         .advertise = std::move(advertise),
                                                                         .drain_seconds = kDrainSeconds});
    if (port_ != "0") return;  // chosen by the first worker; other threads read it from then on
    const auto& url = workers_[k]->urls().front();
    port_ = url.substr(url.rfind(':') + 1);
  }

  static std::string address(int k) { return "127.0.0." + std::to_string(k + 1); }
  std::string url() const { return "ws://workers.test:" + port_; }
  std::string url_of(int k) const { return "ws://" + address(k) + ":" + port_; }

  std::string port_ = "0";
  std::map<int, std::unique_ptr<server::Server>> workers_;
};

float sum_on(const Device& device) { return Tensor<1>::ones({1000}, device).sum().into_scalar<float>(); }

net::RemoteSession& session_of(const Device& device) {
  return dynamic_cast<net::RemoteSession&>(device.state()->session());
}

TEST_F(Drain, AClientThatTakesNoticesHasTimeAndNewOnesGoElsewhere) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  auto first = Device::new_session(url());
  EXPECT_EQ(sum_on(first), 1000);
  EXPECT_FALSE(notice_of(first).has_value());
  EXPECT_EQ(sum_on(first), 1000);  // it has heard that by now
  std::thread stopping{[&] { workers_[0]->stop(); }};
  EXPECT_TRUE(eventually([&] { return notice_of(first).has_value(); }, kPatience));
  const auto left = notice_of(first).value_or(Notice{}).end - Clock::now();
  EXPECT_GT(left, 1s);
  EXPECT_LE(left, std::chrono::seconds{kDrainSeconds});
  EXPECT_EQ(sum_on(first), 1000) << "it goes on";

  const auto second = Device::new_session(url());
  EXPECT_EQ(sum_on(second), 1000);
  EXPECT_NE(second.info().instance, first.info().instance) << "it is elsewhere";
  const auto refused = net::connect(url_of(0), {.timeout_seconds = 1});
  EXPECT_EQ(refused.status().code(), StatusCode::unavailable);
  EXPECT_THAT(refused.status().message(), HasSubstr("draining"));

  const auto left_at = Clock::now();
  first = second;
  stopping.join();
  EXPECT_LT(Clock::now() - left_at, 5s) << "it waits for nothing else";
}

TEST_F(Drain, ClientsThatTakeNoNoticesAreNotWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(start(1));
  const auto device = Device::new_session(url_of(0));
  EXPECT_EQ(sum_on(device), 1000);
  const auto before = Clock::now();
  workers_[0]->stop();
  EXPECT_LT(Clock::now() - before, 5s);
  EXPECT_THAT(test::error_of([&] { (void)sum_on(device); }), HasSubstr("shutting down"));
}

TEST_F(Drain, ANoticeIsTakenAlsoByAClientThatAsksLater) {
  ASSERT_NO_FATAL_FAILURE(start(1));
  const auto first = Device::new_session(url_of(0)), second = Device::new_session(url_of(0));
  EXPECT_FALSE(notice_of(first).has_value());
  EXPECT_EQ(sum_on(first) + sum_on(second), 2000);
  std::thread stopping{[&] { workers_[0]->stop(); }};
  EXPECT_TRUE(eventually([&] { return notice_of(first).has_value(); }, kPatience));
  EXPECT_TRUE(eventually([&] { return notice_of(second).has_value(); }, kPatience));
  EXPECT_EQ(sum_on(second), 1000);
  session_of(first).close();
  EXPECT_EQ(sum_on(second), 1000) << "it is waited for, too";
  session_of(second).close();
  stopping.join();
}

// The name leads to a proxy; the worker says where it is itself.
TEST_F(Drain, AClientComesBackToTheAddressThatIsAdvertised) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  workers_.erase(0);
  start_one(0, {"grpc://127.0.0.9:1", url_of(0)});
  test::Proxy proxy{address(0) + ":" + port_};
  const auto device = Device::new_session("ws://" + proxy.address());
  EXPECT_EQ(sum_on(device), 1000);
  proxy.cut();
  EXPECT_EQ(sum_on(device), 1000);
  EXPECT_TRUE(eventually([&] { return session_of(device).wire_stats().resumes == 1; }, kPatience));
  const auto after_cut = proxy.bytes();
  EXPECT_EQ(sum_on(device), 1000);
  EXPECT_EQ(proxy.bytes(), after_cut) << "it is not spoken to through the proxy any more";
}

TEST_F(Drain, AnAdvertisedUrlIsOneOfAServer) {
  for (const char* url : {"nonsense", "unix:/run/burn.sock", "ws://10.0.0.7:3000/1"}) {
    const auto said = test::error_of([&] { start_one(0, {url}); });
    EXPECT_THAT(said, HasSubstr("--advertise")) << url;
  }
}

// A training of 60 steps that takes its time; gone on with, where a worker ends, until it is over.
struct Trained {
  train::TrainingReport report;
  int starts = 0;
};

Trained train_on(const std::string& url, const std::filesystem::path& folder) {
  struct Slow : train::Callback {
    std::string name() const override { return "Slow"; }
    void step(train::Run&) override { std::this_thread::sleep_for(30ms); }
  };
  Trained trained;
  do {
    const auto device = Device::new_session(url);
    const auto [train, valid] = test::tiny_loaders(device);
    auto training = train::SupervisedTraining(folder, train, valid)
                        .metrics(metric::Accuracy{}, metric::Loss{})
                        .renderer(std::make_shared<train::SilentRenderer>())
                        .callbacks(std::make_shared<Slow>())
                        .seed(7)
                        .epochs(12);
    if (trained.starts++ > 0) training.resume(train::latest);
    device.seed(1);
    auto net = test::TinyNet::init(device.autodiff());
    trained.report = training.launch(train::Learner(std::move(net), optim::AdamConfig{}, 0.05)).report;
  } while (trained.report.drained && trained.starts < 20);
  return trained;
}

TEST_F(Drain, WorkersAreReplacedUnderTrainingsAndShortClients) {
  ASSERT_NO_FATAL_FAILURE(start(3));
  const test::TempFolder folder;
  const auto undisturbed = train_on(url(), folder / "undisturbed");
  EXPECT_EQ(undisturbed.starts, 1);

  std::atomic<bool> is_over = false;
  std::atomic<int> connected = 0;
  std::vector<std::string> failures;
  std::thread short_clients{[&] {
    while (!is_over) {
      try {
        const auto device = Device::new_session(url());
        (void)device.info();
        ++connected;
      } catch (const Error& error) {
        failures.emplace_back(error.what());
      }
      std::this_thread::sleep_for(20ms);
    }
  }};
  std::vector<Trained> trained(2);
  std::vector<std::thread> trainings;
  for (int k = 0; k < 2; ++k)
    trainings.emplace_back([&, k] { trained[k] = train_on(url(), folder / std::to_string(k)); });
  for (int k = 0; k < 3; ++k) {
    std::this_thread::sleep_for(300ms);
    workers_[k].reset();
    start_one(k);
  }
  for (auto& training : trainings) training.join();
  is_over = true;
  short_clients.join();

  EXPECT_THAT(failures, testing::IsEmpty());
  EXPECT_GT(connected, 10);
  for (const auto& [report, starts] : trained) {
    EXPECT_GT(starts, 1) << "no worker was replaced under it";
    EXPECT_EQ(report.reason, train::StopReason::completed);
    ASSERT_EQ(report.history.size(), undisturbed.report.history.size());
    for (std::size_t epoch = 0; epoch < report.history.size(); ++epoch) {
      EXPECT_EQ(report.history[epoch].train, undisturbed.report.history[epoch].train) << "epoch " << epoch + 1;
      EXPECT_EQ(report.history[epoch].valid, undisturbed.report.history[epoch].valid) << "epoch " << epoch + 1;
    }
  }
}

}  // namespace
}  // namespace burn
