// Opening devices by URL: which share a session, which share an attempt to connect, and which wait for each other.
#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "client/tensor/tensor.h"
#include "proto/session_registry.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Registers a URL scheme: the test controls when its sessions open and break, and counts the attempts.
class OpenDevice : public ::testing::Test {
 protected:
  class Session : public test::RecordingSession {
   public:
    explicit Session(std::shared_ptr<std::atomic<bool>> is_broken)
        : RecordingSession(std::make_shared<test::RecordedCalls>()), is_broken_(std::move(is_broken)) {}
    Status health() const override { return *is_broken_ ? unavailable("lost connection to it") : ok_status(); }
    void read(proto::TensorId id, ReadCallback done) override {
      if (const Status why = health(); !why.ok()) return done(why);
      RecordingSession::read(id, std::move(done));
    }

   private:
    const std::shared_ptr<std::atomic<bool>> is_broken_;
  };

  OpenDevice() {
    proto::register_scheme(scheme, [this](const std::string& url) -> Result<std::unique_ptr<proto::Session>> {
      attempts += 1;
      if (url.ends_with("slow")) gate.get_future().wait();
      if (fails) return unavailable("cannot connect to " + url);
      return std::unique_ptr<proto::Session>{std::make_unique<Session>(is_broken)};
    });
  }
  ~OpenDevice() override {
    proto::register_scheme(
        scheme, [](const std::string&) -> Result<std::unique_ptr<proto::Session>> { return unavailable("over"); });
  }

  std::string url(const std::string& name) const { return scheme + ":" + name; }
  static bool waits(const std::future<void>& thread) { return thread.wait_for(30ms) == std::future_status::timeout; }

  const std::string scheme = "open-device-test";
  std::promise<void> gate;
  std::atomic<int> attempts = 0;
  std::atomic<bool> fails = false;
  std::shared_ptr<std::atomic<bool>> is_broken = std::make_shared<std::atomic<bool>>(false);
};

TEST_F(OpenDevice, AgainGivesTheSameSessionWhileItIsUsed) {
  const Device first{url("a")};
  EXPECT_EQ(Device{url("a")}, first);
  EXPECT_FALSE(Device{url("b")} == first);
  EXPECT_EQ(attempts, 2);
}

TEST_F(OpenDevice, ThatAnswersSlowlyDoesNotHoldUpOthers) {
  const Device open{url("open")};
  auto slow = std::async(std::launch::async, [&] { (void)Device{url("slow")}; });
  EXPECT_TRUE(waits(slow));
  auto others = std::async(std::launch::async, [&] {
    EXPECT_EQ(Device{url("open")}, open);
    (void)Device{url("other")};
    (void)Device::new_session(url("another"));
  });
  EXPECT_EQ(others.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(waits(slow));
  gate.set_value();
  slow.get();
}

TEST_F(OpenDevice, ByManyThreadsAtOnceIsOneAttempt) {
  std::vector<std::future<Device>> opening;
  for (int i = 0; i < 4; ++i) opening.push_back(std::async(std::launch::async, [&] { return Device{url("slow")}; }));
  std::this_thread::sleep_for(30ms);
  gate.set_value();
  std::vector<Device> devices;
  for (auto& each : opening) devices.push_back(each.get());
  for (const auto& device : devices) EXPECT_EQ(device, devices[0]);
  EXPECT_EQ(attempts, 1);
}

TEST_F(OpenDevice, ThatFailsIsAnErrorForAllWaitersAndIsTriedAgainByTheNext) {
  fails = true;
  std::vector<std::future<std::string>> opening;
  for (int i = 0; i < 4; ++i) {
    opening.push_back(std::async(std::launch::async, [&]() -> std::string {
      try {
        (void)Device{url("slow")};
      } catch (const Error& error) {
        return error.what();
      }
      return "no error";
    }));
  }
  std::this_thread::sleep_for(30ms);
  gate.set_value();
  for (auto& each : opening) EXPECT_THAT(each.get(), HasSubstr("cannot connect to " + url("slow")));
  EXPECT_EQ(attempts, 1);
  gate = {};
  gate.set_value();
  fails = false;
  EXPECT_EQ(Device{url("slow")}.url(), url("slow"));
}

TEST_F(OpenDevice, AfterItsSessionBrokeGivesANewOneWhileOldTensorsSayWhatHappened) {
  const Device old{url("a")};
  const auto x = Tensor<1>::from_data({1, 2}, old);
  *is_broken = true;
  is_broken = std::make_shared<std::atomic<bool>>(false);
  const Device fresh{url("a")};
  EXPECT_FALSE(fresh == old);
  EXPECT_EQ(Device{url("a")}, fresh);
  EXPECT_EQ(attempts, 2);
  try {
    (void)(x + 1).to_data();
    FAIL() << "read from a session that is broken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("lost connection"));
  }
  try {
    (void)(x + Tensor<1>::from_data({1, 2}, fresh));
    FAIL() << "added tensors of two sessions";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("lost connection"));
  }
  EXPECT_NO_THROW((void)(Tensor<1>::from_data({1, 2}, fresh) + 1).to_data());
}

}  // namespace
}  // namespace burn
