// An asynchronous read of a tensor, requested from the session. Private to client/tensor.
#pragma once

#include <future>
#include <memory>

#include "client/tensor/data.h"
#include "proto/session.h"

namespace burn::client {

class DeviceState;

// Keeps the device alive until the answer has arrived: the tensor and every Device may be destroyed meanwhile. In the
// child of a fork() the answer is an error, as the threads that would deliver it do not exist there. Thread-safe; the
// future is taken once.
class ReadRequest {
 public:
  // `type`: the tensor's.
  ReadRequest(std::shared_ptr<DeviceState> device, const ir::TensorType& type);
  ReadRequest(const ReadRequest&) = delete;
  ReadRequest& operator=(const ReadRequest&) = delete;
  ~ReadRequest();

  std::future<TensorData> future() { return promise_.get_future(); }
  // At most once, from any thread. A tensor of another type becomes an error: servers are not trusted.
  void answer(Result<proto::HostTensor> tensor);

 private:
  struct Open;  // the list of all requests without an answer

  static Open& open();
  void leave();  // removes this request from the list. Requires: its mutex

  std::shared_ptr<DeviceState> device_;
  const ir::TensorType type_;
  std::promise<TensorData> promise_;
  ReadRequest *previous_ = nullptr, *next_ = nullptr;  // neighbours in the list
  bool is_open_ = true;                                // it is in the list
};

}  // namespace burn::client
