#include "client/record/recording.h"

#include <utility>

#include "base/error.h"
#include "client/record/device_state.h"

namespace burn::client {
namespace {

std::shared_ptr<Recorder> detach_from(DeviceState& device) {
  const DeviceLock lock(device);
  return lock->recorders.detach();
}

// Returns a recorder that no thread has adopted to its device.
void keep_in(DeviceState& device, std::shared_ptr<Recorder> recorder) {
  if (device.handle().is_of_parent()) {
    new std::shared_ptr<Recorder>(std::move(recorder));  // leaked: a thread of the parent may have been changing it
    return;
  }
  const DeviceLock lock(device);
  lock->recorders.keep(std::move(recorder));
}

// Adds the other recording's inputs to `mine`, and returns the references.
std::vector<ir::Ref> adopt_inputs(Recorders& recorders, Recorder& mine, const Recorder& other) {
  std::vector<ir::Ref> inputs;
  inputs.reserve(other.inputs.size());
  for (Storage* input : other.inputs) {
    // The reader moves from the other recording to this one, and keeps alive a tensor that was dropped meanwhile.
    input->readers -= 1;
    if (input->input_of == &other) input->input_of = nullptr;
    inputs.push_back(recorders.operand(mine, *input));
    if (input->owners.load() == 0) mine.note_held(*input);
  }
  return inputs;
}

// Appends the other recording to this thread's.
void adopt_in(DeviceState& device, Recorder& other) {
  const DeviceLock lock(device);
  Recorder& mine = lock->recorders.current();
  const auto inputs = adopt_inputs(lock->recorders, mine, other);
  std::vector<ir::Ref> refs, moved;
  std::size_t next_scalar = 0;
  const ir::Program& program = other.builder.program();
  for (const auto& node : program.nodes) {
    ir::Ref first;
    refs.clear();
    for (const auto ref : program.operands_of(node)) {
      const auto k = static_cast<std::size_t>(ref.index());
      refs.push_back(ref.is_input() ? inputs[k] : moved[k]);
    }
    if (const auto* scalar = std::get_if<ir::Scalar>(&node.op)) {
      first = mine.builder.add_scalar(scalar->dtype);
      mine.scalars.push_back(other.scalars[next_scalar++]);
    } else if (const auto* random = std::get_if<ir::Random>(&node.op)) {
      first = value_or_throw(mine.builder.add_random(*random, node.site));
    } else {
      first = value_or_throw(mine.builder.add(node.op, refs, node.site, node.recompute));
    }
    for (std::uint32_t k = 0; k < node.value_count; ++k) {
      moved.push_back(first.result(static_cast<int>(k)));
      Storage* storage = other.values[node.first_value + k];
      mine.values.push_back(storage);
      if (storage == nullptr) continue;
      storage->recorder = &mine;
      storage->value = moved.back().index();
    }
  }
  other.values.clear();
  other.inputs.clear();
}

}  // namespace

DetachedRecording DetachedRecording::detach(const Device& device) {
  DetachedRecording recording;
  recording.take(device.state());
  return recording;
}

DetachedRecording DetachedRecording::detach() {
  DetachedRecording recording;
  for (const auto& device : devices_of_this_thread()) recording.take(device);
  return recording;
}

void DetachedRecording::take(const std::shared_ptr<DeviceState>& device) {
  if (auto recorder = detach_from(*device)) parts_.push_back({device, std::move(recorder)});
}

DetachedRecording::~DetachedRecording() {
  for (auto& part : parts_) keep_in(*part.device, std::move(part.recorder));
}

void DetachedRecording::adopt() {
  for (auto& part : std::exchange(parts_, {})) adopt_in(*part.device, *part.recorder);
}

void pace_this_thread() {
  for (const auto& device : devices_of_this_thread()) device->pace();
}

}  // namespace burn::client
