// Numbers on their way from the device, each handed to its reader when it has come: a loop that prints does not wait.
//
//   PendingReads reads;
//   for (...) {
//     ...
//     if (step % 50 == 0) reads.add(loss, [step](const TensorData& x) { print(step, x.as_slice<float>()[0]); });
//     reads.poll();
//   }
//   reads.finish();
#pragma once

#include <deque>
#include <functional>
#include <future>

#include "client/tensor/tensor.h"

namespace burn {

// One thread at a time; the readers are called by poll() and finish(), in the order of add().
class PendingReads {
 public:
  using Reader = std::function<void(const TensorData&)>;

  // Asks for the numbers. Sends what is recorded, so it belongs behind the step that made them.
  template <int D, Kind K>
  void add(const Tensor<D, K>& tensor, Reader reader) {
    pending_.push_back({tensor.to_data_async(), std::move(reader)});
  }
  // Hands over what has come. Errors (thrown): what went wrong on the device.
  void poll();
  // Waits for all that is left.
  void finish();
  std::size_t size() const { return pending_.size(); }

 private:
  struct Pending {
    std::future<TensorData> data;
    Reader reader;
  };
  void hand_over_first();

  std::deque<Pending> pending_;
};

}  // namespace burn
