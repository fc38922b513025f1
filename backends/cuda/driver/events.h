// Events on streams, which are pooled: creating one takes longer than recording it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Not reused while there is an owner.
using Event = std::shared_ptr<CUevent_st>;

// Thread-safe; lives as long as its last event.
class Events : public std::enable_shared_from_this<Events> {
 public:
  explicit Events(CUcontext context) : context_(context) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events();

  // Records an event after everything that is enqueued on the stream by now.
  Result<Event> record(CUstream stream);

 private:
  Result<CUevent> take();
  void give_back(CUevent event);

  const CUcontext context_;
  std::mutex mutex_;
  std::vector<CUevent> idle_;
};

// Whether the device has reached the event. True if the device has failed: a wait for the event reports that.
inline bool is_reached(const Event& event) { return driver().cuEventQuery(event.get()) != CUDA_ERROR_NOT_READY; }

}  // namespace burn::backends::cuda
