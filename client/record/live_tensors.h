// The tensors of one device: where they come from and where they end. While a handle to one exists, the device stays.
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

  // A tensor of `device`, which is this object's, without an id or a place in a recording.
  Ptr<Storage> make(const ir::TensorType& type, DeviceState& device);
  bool are_of_this_device(const Storage& storage) const { return storage.device == &device_; }

  proto::TensorId next_id() const { return next_id_; }
  proto::TensorId take_id() { return next_id_++; }

  // A Value goes that may be the last.
  void drop(Storage& storage);
  // Frees a tensor that is not needed any more.
  void forget(Storage& storage);

  bool none_held() const { return count_ == 0; }
  // What holds the device for its tensors, to be dropped outside the lock. Requires: none_held().
  std::shared_ptr<DeviceState> take_owner() { return std::move(device_); }

 private:
  Outbox& outbox_;
  UploadTable& uploads_;
  proto::TensorId next_id_ = 1;
  std::int64_t count_ = 0;               // that handles hold
  std::shared_ptr<DeviceState> device_;  // while there are any
};

}  // namespace burn::client
