// What a worker shows of its devices.
#include "server/worker_host.h"

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/free_memory.h"
#include "backends/graph_counts.h"
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

// A backend that launches graphs and knows how much of its memory is free, as the one of CUDA does.
class GraphBackend final : public backends::Backend, public backends::CountsGraphs, public backends::KnowsFreeMemory {
 public:
  std::string_view name() const override { return "graphs"; }
  backends::Limits limits() const override { return inner_->limits(); }
  backends::MemoryStats memory() const override { return inner_->memory(); }
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    return inner_->supports(op, operands);
  }
  Result<backends::HostBlockPtr> host_block(std::size_t bytes) override { return inner_->host_block(bytes); }
  Result<std::unique_ptr<backends::Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    return inner_->compile(std::move(program));
  }
  Result<std::unique_ptr<backends::Stream>> open_stream(backends::FailureSink sink) override {
    return inner_->open_stream(std::move(sink));
  }
  backends::GraphCounts graph_counts() const override { return {.captures = 3, .launches = 70}; }
  std::optional<std::uint64_t> free_memory() const override { return free; }

  std::optional<std::uint64_t> free = 5000;

 private:
  const std::unique_ptr<backends::Backend> inner_ = session::make_fake_backend(std::make_shared<session::FakeDevice>());
};

TEST(WorkerHost, ShowsGraphsWhereTheBackendLaunchesSome) {
  const WorkerHost host{{session::Worker::create(std::make_unique<GraphBackend>()),
                         session::Worker::create(session::make_fake_backend(std::make_shared<session::FakeDevice>()))},
                        {}};
  daemon::Samples samples;
  host.collect(samples);
  const auto text = samples.to_text();
  EXPECT_THAT(text, HasSubstr("burn_graph_captures_total{device=\"graphs\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("burn_graph_launches_total{device=\"graphs\"} 70\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("burn_graph_launches_total{device=\"fake\"")));
}

TEST(WorkerHost, FreeMemoryIsThatOfTheLastTickWhereTheBackendSaysIt) {
  auto backend = std::make_unique<GraphBackend>();
  auto& free = backend->free;
  WorkerHost host{{session::Worker::create(std::move(backend)),
                   session::Worker::create(session::make_fake_backend(std::make_shared<session::FakeDevice>()))},
                  {}};
  const auto text = [&] {
    daemon::Samples samples;
    host.collect(samples);
    return samples.to_text();
  };
  EXPECT_THAT(text(), HasSubstr("burn_device_memory_free_bytes{device=\"graphs\"} 5000\n"));
  EXPECT_THAT(text(), testing::Not(HasSubstr("burn_device_memory_free_bytes{device=\"fake\"")));
  free = 3000;
  host.tick();
  EXPECT_THAT(text(), HasSubstr("burn_device_memory_free_bytes{device=\"graphs\"} 3000\n"));
  free.reset();
  host.tick();
  EXPECT_THAT(text(), testing::Not(HasSubstr("burn_device_memory_free_bytes{")));
}

TEST(WorkerHost, HasFewSeriesForManyDevices) {
  WorkerHost::Workers workers;
  for (int i = 0; i < 8; ++i) {
    workers.push_back(session::Worker::create(session::make_fake_backend(std::make_shared<session::FakeDevice>())));
  }
  const WorkerHost host{workers, {}};
  daemon::Samples samples;
  host.collect(samples);
  constexpr std::size_t kHistograms =
      std::size_t{3} * 18;  // of runs and compiling: a series for each of 16 ranges, a sum and a count
  EXPECT_GT(samples.size(), 8u * (20 + kHistograms));
  EXPECT_LT(samples.size(), 8u * (40 + kHistograms));
}

}  // namespace
}  // namespace burn::server
