#include "client/record/recorders.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

#include "base/error.h"
#include "client/fail.h"
#include "client/record/capture_log.h"
#include "client/record/device_state.h"
#include "client/record/recomputation_scope.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_device_serial{1};

std::uint64_t random_seed() { return (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}(); }

[[noreturn]] void refuse_other_device(const ir::Op& op, const std::shared_ptr<DeviceState>& a,
                                      const std::shared_ptr<DeviceState>& b, const ir::CallSite& site) {
  std::string why = std::string{ir::name(op)} + ": operands are on different devices, " + a->url() + " and " +
                    (a->url() == b->url() ? "another session of it" : b->url());
  for (const auto& device : {a, b}) {
    if (const Status health = device->health(); !health.ok()) why += "; " + health.message();
  }
  throw Error(StatusCode::invalid_argument, as_called(std::move(why), site) + at_site(site));
}

}  // namespace

void refuse_in_capture(const char* what) {
  throw Error(StatusCode::failed_precondition, std::string{"a tensor of a captured step is "} + what);
}

Recorders::Recorders(DeviceState& device, LiveTensors& tensors, Outbox& outbox)
    : random{random_seed(), 0},
      device_(device),
      tensors_(tensors),
      outbox_(outbox),
      serial_(next_device_serial.fetch_add(1)) {}

Recorders::~Recorders() {
  for (const auto& recorder : all_) {
    for (Storage* input : std::exchange(recorder->inputs, {})) {
      if (--input->readers == 0) delete input;
    }
  }
}

// --- recorders of threads --------------------------------------------------------------------------------------------

Recorder& Recorders::look_up() {
  auto& mine = thread_recorders();
  if (mine.capture != nullptr) {
    throw Error(StatusCode::failed_precondition,
                "a captured step uses one device; this one also uses " + device_.url());
  }
  auto& recorder = mine.all[serial_];
  if (!recorder) {
    recorder = std::make_shared<Recorder>();
    begin(*recorder);
    recorder->device = device_.weak_from_this();
    prune();
    all_.push_back(recorder);
    // Recorders that only this thread owns are of devices that no longer exist.
    std::erase_if(mine.all, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  last_recorder = {serial_, mine.all[serial_].get()};
  return *last_recorder.recorder;
}

void Recorders::prune() {
  std::erase_if(all_, [this](const std::shared_ptr<Recorder>& recorder) {
    if (recorder.use_count() > 1) return false;
    const auto is_held = [](const Storage* storage) { return storage != nullptr; };
    if (std::any_of(recorder->values.begin(), recorder->values.end(), is_held)) return false;
    close(*recorder);  // its thread has ended and its results are not held
    return true;
  });
}

std::shared_ptr<Recorder> Recorders::detach() {
  if (current().empty()) return nullptr;
  auto& mine = thread_recorders();
  if (mine.capture != nullptr) refuse_in_capture("handed to another thread");
  auto recorder = std::move(mine.all[serial_]);
  mine.all.erase(serial_);
  last_recorder = {};
  std::erase(all_, recorder);
  return recorder;
}

void Recorders::keep(std::shared_ptr<Recorder> recorder) {
  all_.push_back(std::move(recorder));
  prune();  // its tensors may no longer be held
}

// --- recording -------------------------------------------------------------------------------------------------------

void Recorders::begin(Recorder& recorder) {
  recorder.epoch = take_epoch();
  recorder.first_new = tensors_.next_id();
  recorder.held_bytes = 0;
}

ir::Ref Recorders::operand(Recorder& recorder, Storage& storage) {
  if (storage.recorder == &recorder) return ir::Ref::value(storage.value);
  if (storage.recorder != nullptr) {  // pending in another thread's recording: closing it gives the tensor an id
    close(*storage.recorder);
    if (storage.recorder != nullptr) refuse_in_capture("used by another thread");
  }
  if (storage.input_of == &recorder && storage.input_epoch == recorder.epoch)
    return ir::Ref::input(storage.input_index);
  outbox_.check_refused(storage);
  if (storage.readers > 0) {  // input of several recordings: the storage remembers only the last
    const auto found = std::find(recorder.inputs.begin(), recorder.inputs.end(), &storage);
    if (found != recorder.inputs.end())
      return ir::Ref::input(static_cast<std::int32_t>(found - recorder.inputs.begin()));
  }
  const auto ref = recorder.builder.add_input(storage.type);
  recorder.inputs.push_back(&storage);
  storage.readers += 1;
  storage.input_of = &recorder;
  storage.input_epoch = recorder.epoch;
  storage.input_index = ref.index();
  return ref;
}

ir::Ref Recorders::append(Recorder& recorder, const ir::Op& op, std::span<const Value* const> operands,
                          const ir::CallSite& site) {
  SmallArray<ir::Ref, 4> refs{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Storage& storage = *operands[i]->storage();
    if (!tensors_.is_on_this_device(storage)) [[unlikely]]
      refuse_other_device(op, operands[0]->device(), *storage.device, site);
    refs[i] = operand(recorder, storage);
  }
  const auto ref = recorder.builder.add(op, refs.span(), site, RecomputationScope::is_active());
  if (!ref.ok()) [[unlikely]]
    throw Error(ref.status().code(), as_called(ref.status().message(), site) + at_site(site));
  return *ref;
}

Ptr<Storage> Recorders::new_pending(Recorder& recorder, ir::Ref value) {
  recorder.values.push_back(nullptr);  // may throw: before the tensor exists, which cannot be dropped under this lock
  auto storage = tensors_.make(recorder.builder.type_of(value), device_);
  storage->recorder = &recorder;
  storage->value = value.index();
  recorder.values.back() = storage.get();
  return storage;
}

// --- closing: the program becomes a run ------------------------------------------------------------------------------

void Recorders::close_all() {
  for (const auto& recorder : all_) close(*recorder);
}

void Recorders::close(Recorder& recorder, CapturedRun* captured) {
  if (recorder.empty() || recorder.capture != nullptr) return;
  std::vector<ir::Ref> outputs;
  for (std::size_t i = 0; i < recorder.values.size(); ++i) {
    if (recorder.values[i] != nullptr) outputs.push_back(ir::Ref::value(static_cast<std::int32_t>(i)));
  }
  const bool is_run = !outputs.empty() || recorder.builder.program().effect_count > 0;
  proto::Run run;
  run.inputs.reserve(recorder.inputs.size());
  for (std::size_t i = 0; i < recorder.inputs.size(); ++i) {
    Storage& input = *recorder.inputs[i];
    run.inputs.push_back(input.id);
    input.readers -= 1;
    input.input_of = nullptr;
    if (input.owners.load() == 0 && input.readers == 0) {
      recorder.builder.donate(static_cast<std::int32_t>(i));
      if (!is_run) outbox_.release_with_next_run(input.id);
      tensors_.forget(input);
    }
  }
  run.first_output = tensors_.next_id();
  for (const auto ref : outputs) {
    Storage& output = *recorder.values[static_cast<std::size_t>(ref.index())];
    output.id = tensors_.take_id();
    output.recorder = nullptr;
    output.value = -1;
  }
  const auto output_count = outputs.size();
  recorder.builder.seal(std::move(outputs));
  run.scalars = std::move(recorder.scalars);
  recorder.values.clear();
  recorder.inputs.clear();
  recorder.scalars.clear();
  begin(recorder);
  run.seed = random.seed;
  run.random_offset = random.position;
  random.position += static_cast<std::uint64_t>(recorder.builder.program().random_blocks);
  if (captured != nullptr) *captured = {std::make_shared<const ir::Program>(recorder.builder.program()), run};
  if (!is_run) {  // no result is held
    recorder.builder.clear();
    return;
  }
  const auto defined = outbox_.define(recorder.builder, run);
  outbox_.send(std::move(run), defined, output_count);
}

}  // namespace burn::client
