// Creates and frees the tensors of one device. While a handle to one exists, it keeps the device alive.
//
// Guarded by the device's lock.
#pragma once

#include <cstdint>
#include <memory>

#include "client/record/outbox.h"
#include "client/record/upload_table.h"
#include "client/value.h"

namespace burn::client {

class LiveTensors {
 public:
  LiveTensors(Outbox& outbox, UploadTable& uploads) : outbox_(outbox), uploads_(uploads) {}

  // Makes a tensor of `device`, without an id or a place in a recording. Requires: `device` owns this object.
  Ptr<Storage> make(const ir::TensorType& type, DeviceState& device);
  bool is_on_this_device(const Storage& storage) const { return storage.device == &device_; }

  proto::TensorId next_id() const { return next_id_; }
  proto::TensorId take_id() { return next_id_++; }

  // Called when a Value is destroyed that may be the last owner.
  void drop(Storage& storage);
  // Frees a tensor that is not needed any more.
  void forget(Storage& storage);

  bool none_held() const { return count_ == 0; }
  // Returns the reference that kept the device alive for its tensors, to be dropped outside the lock. Requires:
  // none_held().
  std::shared_ptr<DeviceState> take_owner() { return std::move(device_); }

 private:
  Outbox& outbox_;
  UploadTable& uploads_;
  proto::TensorId next_id_ = 1;
  std::int64_t count_ = 0;               // tensors held by handles
  std::shared_ptr<DeviceState> device_;  // set while count_ > 0
};

}  // namespace burn::client
