// What a worker shows of its devices.
#include "server/worker_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/fake_backend.h"

namespace burn::server {
namespace {

using testing::HasSubstr;

TEST(WorkerHost, ALostDeviceIsNamed) {
  const auto first = std::make_shared<session::FakeDevice>(), second = std::make_shared<session::FakeDevice>();
  const WorkerHost host{{session::Worker::create(session::make_fake_backend(first)),
                         session::Worker::create(session::make_fake_backend(second))},
                        {}};
  EXPECT_TRUE(host.health().ok());
  second->is_lost = true;
  EXPECT_EQ(host.health().message(), "the device fake is lost: it fell off the bus");

  daemon::Samples samples;
  host.collect(samples);
  const auto text = samples.to_text();
  EXPECT_THAT(text, HasSubstr("burn_device_up{device=\"fake\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("burn_device_up{device=\"fake#1\"} 0\n")) << "two devices of one name are told apart";
  daemon::Report report;
  host.report(report);
  EXPECT_THAT(daemon::to_json(report), HasSubstr("{\"name\":\"fake\",\"why_lost\":\"it fell off the bus\","));
}

TEST(WorkerHost, HasFewSeriesForManyDevices) {
  WorkerHost::Workers workers;
  for (int i = 0; i < 8; ++i) {
    workers.push_back(session::Worker::create(session::make_fake_backend(std::make_shared<session::FakeDevice>())));
  }
  const WorkerHost host{workers, {}};
  daemon::Samples samples;
  host.collect(samples);
  constexpr std::size_t kHistograms = 2 * 18;  // of runs: a series for each of 16 ranges, a sum and a count
  EXPECT_GT(samples.size(), 8u * (10 + kHistograms));
  EXPECT_LT(samples.size(), 8u * (20 + kHistograms));
}

}  // namespace
}  // namespace burn::server
