// The program that one thread is recording.
//
// Guarded by the lock of its device: other threads close it when they use a tensor that is pending in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/value.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

class CaptureLog;

class Recorder {
 public:
  ir::ProgramBuilder builder;
  std::vector<Storage*> values;  // the tensor of each of the program's values; null if it is not held
  std::vector<Storage*> inputs;  // the tensor of each input
  std::vector<std::uint64_t> scalars;
  proto::TensorId first_new = 0;  // ids from here on are of tensors made since the recording began
  std::uint64_t held_bytes = 0;   // of such tensors that are inputs here and held by nothing else
  std::uint64_t epoch = 0;        // increases with every program; Storage::input_index is valid for input_epoch only
  std::weak_ptr<DeviceState> device;
  CaptureLog* capture = nullptr;  // set while a captured step is recorded: the program stays open until its end

  bool empty() const { return builder.empty() && inputs.empty(); }
  // Called when an input of this program is no longer held by anything else.
  void note_held(const Storage& storage) {
    if (storage.id >= first_new) held_bytes += storage.type.num_bytes();
  }
};

}  // namespace burn::client
