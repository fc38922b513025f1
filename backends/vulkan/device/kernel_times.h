// How long each step of the programs takes on a device (BURN_TRACE=kernels): its dispatches one after the other, with
// the device's time between them.
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

// Times of one recording, which is submitted once.
class RecordedTimes {
 public:
  static Result<std::shared_ptr<RecordedTimes>> make(Device& device, std::size_t dispatches);
  RecordedTimes(const RecordedTimes&) = delete;
  RecordedTimes& operator=(const RecordedTimes&) = delete;
  ~RecordedTimes();

  void begin(VkCommandBuffer commands);
  // Behind a dispatch and its barrier.
  void mark(VkCommandBuffer commands, std::string name);
  // When the device is done: how long each took that was marked. Errors: what the driver says.
  Result<std::vector<double>> microseconds() const;
  // When the device is done: adds them to those of all devices.
  void collect();

 private:
  RecordedTimes(Device& device, VkQueryPool pool, std::size_t most) : device_(device), pool_(pool), most_(most) {}

  Device& device_;
  const VkQueryPool pool_;
  const std::size_t most_;
  std::vector<std::string> names_;
};

// Of all devices of the process. Thread-safe.
class KernelTimes {
 public:
  static bool are_wanted();
  // Those of the process, which are printed to stderr when it ends.
  static KernelTimes& all();
  void add(const std::string& name, double microseconds);
  // A line for each step, what takes longest first; nothing if there is none.
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
