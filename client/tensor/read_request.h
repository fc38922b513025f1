// A tensor's numbers that will be wanted, asked of the session early. Private to tensor_value.cc.
#pragma once

#include <future>
#include <memory>

#include "client/tensor/data.h"
#include "proto/session.h"

namespace burn::client {

class DeviceState;

// Keeps the device until the answer has come: the tensor and every Device may go meanwhile. In the child of a fork()
// the answer is an error, as the threads that would give another are not there. Thread-safe; the future is taken once.
class ReadRequest {
 public:
  // `type`: what the tensor is.
  ReadRequest(std::shared_ptr<DeviceState> device, const ir::TensorType& type);
  ReadRequest(const ReadRequest&) = delete;
  ReadRequest& operator=(const ReadRequest&) = delete;
  ~ReadRequest();

  std::future<TensorData> future() { return promise_.get_future(); }
  // At most once, from any thread. What is not such a tensor is an error: a server may say anything.
  void answer(Result<proto::HostTensor> tensor);

 private:
  struct Open;  // all that are not answered

  static Open& open();
  void leave();  // that list. Requires: its mutex

  std::shared_ptr<DeviceState> device_;
  const ir::TensorType type_;
  std::promise<TensorData> promise_;
  ReadRequest *before_ = nullptr, *after_ = nullptr;  // in the list
  bool is_open_ = true;                               // in it
};

}  // namespace burn::client
