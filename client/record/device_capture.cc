// The device's part of client/capture/capture.h: a recording that stays open for a whole step, and running it again.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "client/record/capture_log.h"
#include "client/record/thread_recorders.h"

namespace burn::client {

void DeviceState::refuse_in_capture(const char* what) const {
  throw Error(StatusCode::failed_precondition, std::string{"a tensor of a captured step is "} + what);
}

void DeviceState::arrange(std::span<Value* const> values, std::vector<std::uint64_t>& aliases) {
  const Lock lock(*this);
  close_program(current());
  const auto epoch = next_epoch_++;
  for (std::size_t i = 0; i < values.size(); ++i) {
    aliases.push_back(i);
    if (!values[i]->has_value()) continue;
    Storage& storage = *values[i]->storage();
    if (storage.device != &self_) {
      throw Error(StatusCode::invalid_argument, "a step captured on " + url_ + " is given " +
                                                    ir::to_string(storage.type) + " on " + (*storage.device)->url());
    }
    if (storage.recorder != nullptr) close_program(*storage.recorder);
    if (storage.recorder != nullptr) refuse_in_capture("given to another one");
    if (storage.input_epoch == epoch) {
      aliases.back() = static_cast<std::uint64_t>(storage.input_index);
    } else {  // a mark, in what otherwise says where the tensor is an input
      storage.input_of = nullptr;
      storage.input_epoch = epoch;
      storage.input_index = static_cast<std::int32_t>(i);
    }
  }
}

void DeviceState::begin_capture(CaptureLog& log) {
  const Lock lock(*this);
  Recorder& recorder = current();
  close_program(recorder);
  recorder.capture = &log;
  log.recorder_ = &recorder;
  thread_recorders().capture = &log;
}

void DeviceState::abandon_capture() {
  thread_recorders().capture = nullptr;
  if (is_of_parent()) return;
  const Lock lock(*this);
  current().capture = nullptr;
}

Result<CapturedRun> DeviceState::end_capture(std::span<Value* const> holders,
                                             std::span<const proto::TensorId> arguments) {
  const Lock lock(*this);
  Recorder& recorder = current();
  recorder.capture = nullptr;
  thread_recorders().capture = nullptr;

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
  std::unordered_map<const Storage*, std::int32_t> held;
  for (const Value* value : holders) {
    if (value->has_value()) held[value->storage().get()] += 1;
  }
  for (std::size_t i = 0; i < recorder.values.size(); ++i) {
    const Storage* storage = recorder.values[i];
    if (storage == nullptr) continue;
    const auto found = held.find(storage);
    if (found != held.end() && found->second == storage->owners.load()) continue;
    const auto& site = program.maker_of(ir::Ref::value(static_cast<std::int32_t>(i))).site;
    return failed_precondition(
        "a tensor " + ir::to_string(storage->type) + " that a captured step makes" +
        (site.file ? " at " + ir::to_string(site) : "") +
        " is kept outside of it, where later calls would not renew it: return it, or take what holds "
        "it as an argument by reference");
  }
  CapturedRun captured;
  close_program(recorder, &captured);
  return captured;
}

std::vector<Ptr<Storage>> DeviceState::run_captured(CapturedCall call) {
  std::vector<Ptr<Storage>> results;
  const Lock lock(*this);
  std::vector<bool> donated(call.inputs.size());
  proto::Run run;
  run.inputs.reserve(call.inputs.size());
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    Storage& input = *call.inputs[i];
    check_refused(input);
    run.inputs.push_back(input.id);
    donated[i] = input.readers == 0 && input.owners.load() == call.dropped[i];
  }
  const auto program = call.program(donated);
  for (std::size_t i = 0; i < donated.size(); ++i) {
    if (!donated[i]) continue;
    Storage& input = *call.inputs[i];
    input.id = 0;
    if (input.is_known_upload) uploads_.remove(input);  // its Values are still there for a moment
  }
  run.first_output = next_id_;
  results.reserve(program->outputs.size());
  for (const auto ref : program->outputs) {
    auto* storage = new_storage(program->type_of(ref));
    storage->id = next_id_++;
    results.emplace_back(storage);
  }
  run.scalars = std::move(call.scalars);
  run.seed = seed_;
  run.random_offset = random_offset_;
  random_offset_ += static_cast<std::uint64_t>(program->random_blocks);
  const auto defined = define(program, run);
  send_run(std::move(run), defined, results.size());
  return results;
}

}  // namespace burn::client
