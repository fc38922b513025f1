// Handing what one thread has recorded on a device to another (client/record/recording.h).
#include <utility>

#include "base/error.h"
#include "client/record/thread_recorders.h"

namespace burn::client {

std::vector<std::shared_ptr<DeviceState>> DeviceState::used_by_this_thread() {
  std::vector<std::shared_ptr<DeviceState>> devices;
  for (const auto& [serial, recorder] : thread_recorders().all) {
    if (auto device = recorder->device.lock()) devices.push_back(std::move(device));
  }
  return devices;
}

std::shared_ptr<Recorder> DeviceState::detach_recording() {
  const Lock lock(*this);
  if (const auto& recorder = current(); recorder.empty() && recorder.inputs.empty()) return nullptr;
  auto& mine = thread_recorders();
  if (mine.capture != nullptr) refuse_in_capture("handed to another thread");
  auto recorder = std::move(mine.all[serial_]);
  mine.all.erase(serial_);
  last_recorder = {};
  std::erase(recorders_, recorder);
  return recorder;
}

void DeviceState::keep_recording(std::shared_ptr<Recorder> recorder) {
  if (is_of_parent()) {
    new std::shared_ptr<Recorder>(std::move(recorder));  // as it is: a thread of the parent may have been at it
    return;
  }
  const Lock lock(*this);
  recorders_.push_back(std::move(recorder));
  prune_recorders();  // nobody may want its tensors any more
}

void DeviceState::adopt_recording(std::shared_ptr<Recorder> other) {
  const Lock lock(*this);
  Recorder& mine = current();
  const ir::Program& program = other->builder.program();
  std::vector<ir::Ref> inputs;
  inputs.reserve(other->inputs.size());
  for (Storage* input : other->inputs) {
    // The reader moves from the other recording to this one; a tensor dropped meanwhile stays alive through it.
    input->readers -= 1;
    if (input->input_of == other.get()) input->input_of = nullptr;
    inputs.push_back(operand(mine, *input));
    if (input->owners.load() == 0) note_held(*input, mine);
  }
  std::vector<ir::Ref> refs, moved;
  std::size_t next_scalar = 0;
  for (const auto& node : program.nodes) {
    ir::Ref first;
    refs.clear();
    for (const auto ref : program.operands_of(node)) {
      const auto k = static_cast<std::size_t>(ref.index());
      refs.push_back(ref.is_input() ? inputs[k] : moved[k]);
    }
    if (const auto* scalar = std::get_if<ir::Scalar>(&node.op)) {
      first = mine.builder.add_scalar(scalar->dtype);
      mine.scalars.push_back(other->scalars[next_scalar++]);
    } else if (const auto* random = std::get_if<ir::Random>(&node.op)) {
      first = value_or_throw(mine.builder.add_random(*random, node.site));
    } else {
      first = value_or_throw(mine.builder.add(node.op, refs, node.site, node.recompute));
    }
    for (std::uint32_t k = 0; k < node.value_count; ++k) {
      moved.push_back(first.result(static_cast<int>(k)));
      Storage* storage = other->values[node.first_value + k];
      mine.values.push_back(storage);
      if (storage == nullptr) continue;
      storage->recorder = &mine;
      storage->value = moved.back().index();
    }
  }
  other->values.clear();
  other->inputs.clear();
}

}  // namespace burn::client
