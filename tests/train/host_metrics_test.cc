// Metrics of the program, its host and its device.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"
#include "train/metric/host.h"

namespace burn::metric {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(HostMetrics, ReadTheFilesOfTheSystem) {
  const test::TempFolder folder;
  write(folder / "proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\n");
  write(folder / "proc/meminfo", "MemTotal: 4000000 kB\nMemFree: 1 kB\nMemAvailable:   1000000 kB\n");
  write(folder / "zones/thermal_zone0/temp", "40000\n");
  write(folder / "zones/thermal_zone1/temp", "50500\n");
  write(folder / "zones/cooling_device0/temp", "99999\n");
  CpuUse use{folder / "proc"};
  write(folder / "proc/stat", "cpu  175 0 100 725 100 0 0 0 0 0\n");
  CpuMemory memory{folder / "proc"};
  CpuTemperature temperature{folder / "zones"};
  for (SampledMetric* metric : std::initializer_list<SampledMetric*>{&use, &memory, &temperature}) {
    EXPECT_TRUE(std::isnan(metric->value()));
    metric->take({});
    metric->take({});  // within a second: no new sample
    EXPECT_EQ(metric->state()[1], 1);
  }
  EXPECT_EQ(use.value(), 75);
  EXPECT_DOUBLE_EQ(memory.value(), 3000000.0 * 1024 / 1e9);
  EXPECT_EQ(temperature.value(), 45.25);
  CpuTemperature none{folder / "nothing"};
  none.take({});
  EXPECT_TRUE(std::isnan(none.value()));
}

TEST(HostMetrics, AskTheDeviceWithoutWaiting) {
  const Device device{"cpu"};
  Cuda cuda;
  EXPECT_EQ(cuda.text(), "unavailable");
  const auto held = Tensor<1>::ones({1000}, device);
  device.sync();
  cuda.take({.device = device});
  // A session in this process answers at once.
  EXPECT_THAT(cuda.text(), ::testing::StartsWith("memory 0.00/"));
}

TEST(HostMetrics, CountBatchesPerSecondFromTheSecondOn) {
  IterationSpeed speed;
  speed.take({});
  EXPECT_TRUE(std::isnan(speed.value()));
  speed.take({});
  EXPECT_GT(speed.value(), 0);
}

TEST(HostMetrics, CountBatchesWhoseNumbersComeTogetherOverTheTimeOfTheEpoch) {
  IterationSpeed speed;
  speed.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  for (int i = 0; i < 10; ++i) speed.take({});
  EXPECT_LE(speed.value(), 10 / 0.02);
}

TEST(HostMetrics, OfAnEpochBelowASecondAreTheLastAnswer) {
  const test::TempFolder folder;
  write(folder / "zones/thermal_zone0/temp", "45250");
  CpuTemperature temperature{folder / "zones"};
  temperature.take({});
  temperature.reset();
  temperature.take({});  // within a second: no new sample
  EXPECT_EQ(temperature.value(), 45.25);
}

}  // namespace
}  // namespace burn::metric
