#include "client/record/captured_step.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"

namespace burn::client {
namespace {

// Fails if an input of the program is not one of the arguments.
Status check_inputs(const Recorder& recorder, std::span<const proto::TensorId> arguments) {
  const std::unordered_set<proto::TensorId> known(arguments.begin(), arguments.end());
  const ir::Program& program = recorder.builder.program();
  for (std::size_t i = 0; i < recorder.inputs.size(); ++i) {
    if (known.contains(recorder.inputs[i]->id)) continue;
    const auto input = ir::Ref::input(static_cast<std::int32_t>(i));
    const auto user = std::find_if(program.nodes.begin(), program.nodes.end(), [&](const ir::Node& node) {
      return std::ranges::find(program.operands_of(node), input) != program.operands_of(node).end();
    });
    return failed_precondition("a captured step uses a tensor " + ir::to_string(program.inputs[i].type) +
                               " that is not one of its arguments and would never change" +
                               (user == program.nodes.end() ? "" : " (at " + ir::to_string(user->site) + ")"));
  }
  return {};
}

// Fails if a tensor of the program is held by Values other than the holders.
Status check_holders(const Recorder& recorder, std::span<Value* const> holders) {
  std::unordered_map<const Storage*, std::int32_t> held;
  for (const Value* value : holders) {
    if (value->has_value()) held[value->storage().get()] += 1;
  }
  for (std::size_t i = 0; i < recorder.values.size(); ++i) {
    const Storage* storage = recorder.values[i];
    if (storage == nullptr) continue;
    const auto found = held.find(storage);
    if (found != held.end() && found->second == storage->owners.load()) continue;
    const auto& site = recorder.builder.program().maker_of(ir::Ref::value(static_cast<std::int32_t>(i))).site;
    return failed_precondition(
        "a tensor " + ir::to_string(storage->type) + " that a captured step makes" +
        (site.file ? " at " + ir::to_string(site) : "") +
        " is kept outside of it, where later calls would not renew it: return it, or take what holds "
        "it as an argument by reference");
  }
  return {};
}

}  // namespace

void prepare_arguments(DeviceState& device, std::span<Value* const> values, std::vector<std::uint64_t>& aliases) {
  const DeviceLock lock(device);
  Recorders& recorders = lock->recorders;
  recorders.close(recorders.current());
  const auto epoch = recorders.take_epoch();
  for (std::size_t i = 0; i < values.size(); ++i) {
    aliases.push_back(i);
    if (!values[i]->has_value()) continue;
    Storage& storage = *values[i]->storage();
    if (!lock->tensors.is_on_this_device(storage)) {
      throw Error(StatusCode::invalid_argument, "a step captured on " + device.url() + " is given " +
                                                    ir::to_string(storage.type) + " on " + (*storage.device)->url());
    }
    if (storage.recorder != nullptr) recorders.close(*storage.recorder);
    if (storage.recorder != nullptr) refuse_in_capture("given to another one");
    if (storage.input_epoch == epoch) {
      aliases.back() = static_cast<std::uint64_t>(storage.input_index);
    } else {  // uses the fields of an input's position to mark the tensor as seen, with a new epoch
      storage.input_of = nullptr;
      storage.input_epoch = epoch;
      storage.input_index = static_cast<std::int32_t>(i);
    }
  }
}

void begin_capture(DeviceState& device, CaptureLog& log) {
  const DeviceLock lock(device);
  Recorder& recorder = lock->recorders.current();
  lock->recorders.close(recorder);
  recorder.capture = &log;
  log.recorder_ = &recorder;
  thread_recorders().capture = &log;
}

void abandon_capture(DeviceState& device) {
  thread_recorders().capture = nullptr;
  if (device.handle().is_of_parent()) return;
  const DeviceLock lock(device);
  lock->recorders.current().capture = nullptr;
}

Result<CapturedRun> end_capture(DeviceState& device, std::span<Value* const> holders,
                                std::span<const proto::TensorId> arguments) {
  const DeviceLock lock(device);
  Recorder& recorder = lock->recorders.current();
  recorder.capture = nullptr;
  thread_recorders().capture = nullptr;
  BURN_RETURN_IF_ERROR(check_inputs(recorder, arguments));
  BURN_RETURN_IF_ERROR(check_holders(recorder, holders));
  CapturedRun captured;
  lock->recorders.close(recorder, &captured);
  return captured;
}

std::vector<Ptr<Storage>> run_captured(DeviceState& device, CapturedCall call) {
  std::vector<Ptr<Storage>> results;
  const DeviceLock lock(device);
  std::vector<bool> donated(call.inputs.size());
  proto::Run run;
  run.inputs.reserve(call.inputs.size());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    Storage& input = *call.inputs[i];
    lock->outbox.check_refused(input);
    run.inputs.push_back(input.id);
    donated[i] = input.readers == 0 && input.owners.load() == call.dropped[i];
  }
  const auto program = call.program(donated);
  for (std::size_t i = 0; i < donated.size(); ++i) {
    if (!donated[i]) continue;
    Storage& input = *call.inputs[i];
    input.id = 0;
    if (input.is_known_upload) lock->uploads.remove(input);  // now, as its Values are dropped only later
  }
  run.first_output = lock->tensors.next_id();
  results.reserve(program->outputs.size());
  for (const auto ref : program->outputs) {
    results.push_back(lock->tensors.make(program->type_of(ref), device));
    results.back()->id = lock->tensors.take_id();
  }
  run.scalars = std::move(call.scalars);
  RandomState& random = lock->recorders.random;
  run.seed = random.seed;
  run.random_offset = random.position;
  random.position += static_cast<std::uint64_t>(program->random_blocks);
  const auto defined = lock->outbox.define(program, run);
  lock->outbox.send(std::move(run), defined, results.size());
  return results;
}

}  // namespace burn::client
