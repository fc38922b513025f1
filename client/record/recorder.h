// A program under way on one thread.
//
// Guarded by the lock of its device: others close it when they use a tensor that is pending in it.
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
  std::vector<Storage*> values;  // the tensor of each value that nodes make while it is held, else null
  std::vector<Storage*> inputs;  // the tensor of each input
  std::vector<std::uint64_t> scalars;
  proto::TensorId first_new = 0;  // tensors that came into being since the recording began have this id or a higher one
  std::uint64_t held_bytes = 0;   // of those among its inputs that are held by nothing else
  std::uint64_t epoch = 0;  // rises with every program, so that a Storage's memory of its input index can be believed
  std::weak_ptr<DeviceState> device;
  CaptureLog* capture = nullptr;  // of the captured step that is being recorded: the program stays open until its end

  bool empty() const { return builder.empty() && inputs.empty(); }
  // A tensor is an input here and held by nothing else any more.
  void note_held(const Storage& storage) {
    if (storage.id >= first_new) held_bytes += storage.type.num_bytes();
  }
};

}  // namespace burn::client
