// Measures how long each step of the programs takes on a device (BURN_TRACE=kernels): its dispatches run one after the
// other, with timestamps of the device between them.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/vulkan/driver/vulkan.h"
#include "base/status.h"

namespace burn::backends::vulkan {

class Device;

// The times of the dispatches of one command buffer, which is submitted once.
class RecordedTimes {
 public:
  static Result<std::shared_ptr<RecordedTimes>> make(Device& device, std::size_t dispatches);
  RecordedTimes(const RecordedTimes&) = delete;
  RecordedTimes& operator=(const RecordedTimes&) = delete;
  ~RecordedTimes();

  void begin(VkCommandBuffer commands);
  // Records a timestamp; called after a dispatch and its barrier.
  void mark(VkCommandBuffer commands, std::string name);
  // How long each marked dispatch took. Requires: the device is done. Errors: what the driver says.
  Result<std::vector<double>> microseconds() const;
  // Adds the times to KernelTimes::all(). Requires: the device is done.
  void collect();

 private:
  RecordedTimes(Device& device, VkQueryPool pool, std::size_t most) : device_(device), pool_(pool), most_(most) {}

  Device& device_;
  const VkQueryPool pool_;
  const std::size_t most_;
  std::vector<std::string> names_;
};

// The times of the steps on all devices of the process. Thread-safe.
class KernelTimes {
 public:
  static bool are_wanted();
  // The instance of the process, which is printed to stderr when the process ends.
  static KernelTimes& all();
  void add(const std::string& name, double microseconds);
  // A line for each step, sorted by total time; empty if there is none.
  std::string text() const;

 private:
  struct Sum {
    std::size_t count = 0;
    double microseconds = 0, least = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Sum> sums_;
};

}  // namespace burn::backends::vulkan
