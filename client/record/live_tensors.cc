#include "client/record/live_tensors.h"

#include <utility>

#include "client/record/device_state.h"
#include "client/record/recorder.h"

namespace burn::client {

Ptr<Storage> LiveTensors::make(const ir::TensorType& type, DeviceState& device) {
  auto storage = Ptr<Storage>::adopt(new Storage);
  if (count_++ == 0) device_ = device.shared_from_this();
  storage->type = type;
  storage->device = &device_;
  return storage;
}

void LiveTensors::drop(Storage& storage) {
  if (storage.owners.load(std::memory_order_acquire) == 1) {
    storage.owners.store(0, std::memory_order_relaxed);  // new owners are made only under the lock, which is held
  } else if (storage.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) {
    return;  // it has another owner
  }
  count_ -= 1;
  if (storage.recorder != nullptr) {
    storage.recorder->values[static_cast<std::size_t>(storage.value)] = nullptr;
    forget(storage);
  } else if (storage.id == 0 || outbox_.is_refused(storage.id)) {  // donated to a run, or never computed
    forget(storage);
  } else if (storage.readers == 0) {
    const auto id = storage.id;
    const auto bytes = storage.type.num_bytes();
    forget(storage);
    outbox_.release(id, bytes);
  } else if (storage.input_of != nullptr) {  // input of an open recording, which will donate it when it is closed
    storage.input_of->note_held(storage);
  }
}

void LiveTensors::forget(Storage& storage) {
  outbox_.forget(storage.id);
  if (storage.is_known_upload) uploads_.remove(storage);
  delete &storage;
}

}  // namespace burn::client
