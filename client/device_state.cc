#include "client/device_state.h"

#include <algorithm>
#include <atomic>
#include <random>

#include "base/error.h"

namespace burn::client {
namespace {

// Dropped tensors are named in the next run; past this many bytes they are released at once.
constexpr std::uint64_t kReleaseAtBytes = std::uint64_t{16} << 20;
constexpr std::size_t kReleaseAtCount = 256;

std::atomic<std::uint64_t> next_device_serial{1};

// Which recorder this thread uses on which device. The last one is looked up first: most threads use one device.
struct ThreadRecorders {
  std::uint64_t last_serial = 0;
  Recorder* last = nullptr;
  std::unordered_map<std::uint64_t, std::shared_ptr<Recorder>> all;  // by the device's serial
};
thread_local ThreadRecorders thread_recorders;

}  // namespace

std::shared_ptr<DeviceState> DeviceState::create(std::string url, std::unique_ptr<proto::Session> session) {
  return std::shared_ptr<DeviceState>(new DeviceState(std::move(url), std::move(session)));
}

DeviceState::DeviceState(std::string url, std::unique_ptr<proto::Session> session)
    : url_(std::move(url)),
      serial_(next_device_serial.fetch_add(1)),
      session_(std::move(session)),
      seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}

DeviceState::~DeviceState() { session_->close(); }

Recorder& DeviceState::current() {
  auto& mine = thread_recorders;
  if (mine.last_serial == serial_) return *mine.last;
  auto& recorder = mine.all[serial_];
  if (!recorder) {
    recorder = std::make_shared<Recorder>();
    recorder->epoch = next_epoch_++;
    recorder->device = weak_from_this();
    prune_recorders();
    recorders_.push_back(recorder);
    // Devices that are gone left their recorders to this thread alone.
    std::erase_if(mine.all, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  mine.last_serial = serial_;
  mine.last = mine.all[serial_].get();
  return *mine.last;
}

void DeviceState::prune_recorders() {
  std::erase_if(recorders_, [this](const std::shared_ptr<Recorder>& recorder) {
    if (recorder.use_count() > 1) return false;
    const auto is_held = [](const Storage* storage) { return storage != nullptr; };
    if (std::any_of(recorder->nodes.begin(), recorder->nodes.end(), is_held)) return false;
    close_program(*recorder);  // its thread is gone and nobody waits for its results
    return true;
  });
}

ir::Ref DeviceState::operand(Recorder& recorder, Storage& storage) {
  if (storage.recorder == &recorder) return ir::Ref::node(storage.node);
  if (storage.recorder != nullptr) close_program(*storage.recorder);  // another thread's: from here on it has an id
  if (storage.input_of == &recorder && storage.input_epoch == recorder.epoch) return ir::Ref::input(storage.input_index);
  if (storage.readers > 0) {  // input of several recordings: the storage remembers only the last
    const auto found = std::find(recorder.inputs.begin(), recorder.inputs.end(), &storage);
    if (found != recorder.inputs.end()) return ir::Ref::input(static_cast<std::int32_t>(found - recorder.inputs.begin()));
  }
  const auto ref = recorder.builder.add_input(storage.type);
  recorder.inputs.push_back(&storage);
  storage.readers += 1;
  storage.input_of = &recorder;
  storage.input_epoch = recorder.epoch;
  storage.input_index = ref.index();
  return ref;
}

Ptr<Storage> DeviceState::new_pending(Recorder& recorder, ir::Ref ref) {
  auto* storage = new Storage;
  storage->type = recorder.builder.type_of(ref);
  storage->device = shared_from_this();
  storage->recorder = &recorder;
  storage->node = ref.index();
  recorder.nodes.push_back(storage);
  stats_.nodes_recorded += 1;
  Ptr<Storage> result{storage};
  if (recorder.builder.size() >= kMaxRecorded) close_program(recorder);
  return result;
}

Ptr<Storage> DeviceState::record(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site) {
  const std::lock_guard lock(mutex_);
  Recorder& recorder = current();
  ir::Ref few[4];
  std::vector<ir::Ref> many;
  std::span<ir::Ref> refs{few, operands.size()};
  if (operands.size() > std::size(few)) {
    many.resize(operands.size());
    refs = many;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Storage& storage = *operands[i].storage();
    if (storage.device.get() != this) {
      throw Error(StatusCode::invalid_argument, std::string{ir::name(op)} + ": operands are on different devices, " +
                                                    operands[0].device()->url() + " and " + storage.device->url() +
                                                    " (at " + ir::to_string(site) + ")");
    }
    refs[i] = operand(recorder, storage);
  }
  auto ref = recorder.builder.add(op, refs, site);
  if (!ref.ok()) {
    throw Error(ref.status().code(), ref.status().message() + " (at " + ir::to_string(site) + ")");
  }
  return new_pending(recorder, *ref);
}

Ptr<Storage> DeviceState::record_scalar(Scalar value, ir::DType dtype) {
  const std::lock_guard lock(mutex_);
  Recorder& recorder = current();
  const auto ref = recorder.builder.add_scalar(dtype);
  recorder.scalars.push_back(static_cast<std::uint64_t>(value.bits(dtype)));
  return new_pending(recorder, ref);
}

Ptr<Storage> DeviceState::record_random(ir::RandomFn fn, ir::DType dtype, const ir::Shape& shape, const ir::CallSite& site) {
  const std::lock_guard lock(mutex_);
  Recorder& recorder = current();
  return new_pending(recorder, value_or_throw(recorder.builder.add_random(fn, dtype, shape, site)));
}

Ptr<Storage> DeviceState::upload(proto::HostTensor tensor) {
  auto* storage = new Storage;
  storage->type = tensor.type;
  storage->device = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    storage->id = next_id_++;
  }
  Ptr<Storage> result{storage};
  // Outside the lock: a write may wait for the peer, and whoever uses the tensor can only do so after this returns.
  throw_if_error(session_->write(storage->id, std::move(tensor)));
  return result;
}

void DeviceState::close_program(Recorder& recorder) {
  if (recorder.builder.empty() && recorder.inputs.empty()) return;
  std::vector<ir::Ref> outputs;
  for (std::size_t i = 0; i < recorder.nodes.size(); ++i) {
    if (recorder.nodes[i] != nullptr) outputs.push_back(ir::Ref::node(static_cast<std::int32_t>(i)));
  }
  proto::Run run;
  run.inputs.reserve(recorder.inputs.size());
  for (std::size_t i = 0; i < recorder.inputs.size(); ++i) {
    Storage& input = *recorder.inputs[i];
    run.inputs.push_back(input.id);
    input.readers -= 1;
    input.input_of = nullptr;
    if (input.owners.load() == 0 && input.readers == 0) {
      recorder.builder.donate(static_cast<std::int32_t>(i));
      if (outputs.empty()) releases_.push_back(input.id);
      delete &input;
    }
  }
  run.first_output = next_id_;
  for (const auto ref : outputs) {
    Storage& output = *recorder.nodes[static_cast<std::size_t>(ref.index())];
    output.id = next_id_++;
    output.recorder = nullptr;
    output.node = -1;
  }
  const bool is_needed = !outputs.empty();
  auto program = std::make_shared<ir::Program>(recorder.builder.finish(std::move(outputs)));
  run.scalars = std::move(recorder.scalars);
  recorder.nodes.clear();
  recorder.inputs.clear();
  recorder.scalars.clear();
  recorder.epoch = next_epoch_++;
  run.seed = seed_;
  run.random_offset = random_offset_;
  random_offset_ += static_cast<std::uint64_t>(program->random_blocks);
  if (!is_needed) return;  // nobody holds a result
  run.program = define(program);
  run.release = std::exchange(releases_, {});
  release_bytes_ = 0;
  stats_.runs += 1;
  // A broken session is not reported here, in the middle of whatever recorded last: every read and sync says so.
  (void)session_->run(std::move(run));
}

proto::ProgramId DeviceState::define(const std::shared_ptr<const ir::Program>& program) {
  if (const auto known = program_index_.find(program->hash); known != program_index_.end()) {
    programs_.splice(programs_.begin(), programs_, known->second);
    return known->second->id;
  }
  proto::ProgramId id = programs_.size() + 1;
  if (programs_.size() >= kMaxPrograms) {  // defining an id again replaces what it stood for
    id = programs_.back().id;
    program_index_.erase(programs_.back().hash);
    programs_.pop_back();
  }
  programs_.push_front({program->hash, id});
  program_index_[program->hash] = programs_.begin();
  stats_.programs_defined += 1;
  (void)session_->define(id, program);
  return id;
}

void DeviceState::dropped(Storage& storage) {
  const std::lock_guard lock(mutex_);
  if (storage.owners.load() != 0) return;  // cannot be: only Values hand out owners
  if (storage.recorder != nullptr) {
    storage.recorder->nodes[static_cast<std::size_t>(storage.node)] = nullptr;
    delete &storage;
  } else if (storage.readers == 0) {
    releases_.push_back(storage.id);
    release_bytes_ += storage.type.num_bytes();
    delete &storage;
    if (release_bytes_ >= kReleaseAtBytes || releases_.size() >= kReleaseAtCount) send_releases();
  }  // else an input of a program being recorded: closing that gives it away
}

void DeviceState::send_releases() {
  if (releases_.empty()) return;
  release_bytes_ = 0;
  (void)session_->release(std::exchange(releases_, {}));
}

proto::TensorId DeviceState::materialise(Storage& storage) {
  const std::lock_guard lock(mutex_);
  if (storage.recorder != nullptr) close_program(*storage.recorder);
  return storage.id;
}

void DeviceState::flush() {
  const std::lock_guard lock(mutex_);
  close_program(current());
  send_releases();
}

void DeviceState::flush_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& recorder : recorders_) close_program(*recorder);
  send_releases();
}

void DeviceState::seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  for (const auto& recorder : recorders_) close_program(*recorder);  // what was recorded belongs to the old stream
  seed_ = seed;
  random_offset_ = 0;
}

RandomStream DeviceState::random_stream() const {
  const std::lock_guard lock(mutex_);
  return {seed_, random_offset_};
}

void DeviceState::set_random_stream(RandomStream stream) {
  const std::lock_guard lock(mutex_);
  close_program(current());
  seed_ = stream.seed;
  random_offset_ = stream.offset;
}

std::vector<std::shared_ptr<DeviceState>> DeviceState::used_by_this_thread() {
  std::vector<std::shared_ptr<DeviceState>> devices;
  for (const auto& [serial, recorder] : thread_recorders.all) {
    if (auto device = recorder->device.lock()) devices.push_back(std::move(device));
  }
  return devices;
}

std::shared_ptr<Recorder> DeviceState::detach_recording() {
  const std::lock_guard lock(mutex_);
  if (const auto& recorder = current(); recorder.empty() && recorder.inputs.empty()) return nullptr;
  auto& mine = thread_recorders;
  auto recorder = std::move(mine.all[serial_]);
  mine.all.erase(serial_);
  mine.last_serial = 0;
  std::erase(recorders_, recorder);
  return recorder;
}

void DeviceState::keep_recording(std::shared_ptr<Recorder> recorder) {
  const std::lock_guard lock(mutex_);
  recorders_.push_back(std::move(recorder));
  prune_recorders();  // nobody may want its tensors any more
}

void DeviceState::adopt_recording(std::shared_ptr<Recorder> other) {
  const std::lock_guard lock(mutex_);
  Recorder& mine = current();
  const ir::Program& program = other->builder.program();
  std::vector<ir::Ref> inputs;
  inputs.reserve(other->inputs.size());
  for (Storage* input : other->inputs) {
    // The reader moves from the other recording to this one; a tensor dropped meanwhile stays alive through it.
    input->readers -= 1;
    if (input->input_of == other.get()) input->input_of = nullptr;
    inputs.push_back(operand(mine, *input));
  }
  std::vector<ir::Ref> refs, moved;
  std::size_t next_scalar = 0;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const auto& node = program.nodes[i];
    refs.clear();
    for (const auto ref : program.operands_of(node)) {
      const auto k = static_cast<std::size_t>(ref.index());
      refs.push_back(ref.is_input() ? inputs[k] : moved[k]);
    }
    if (const auto* scalar = std::get_if<ir::Scalar>(&node.op)) {
      moved.push_back(mine.builder.add_scalar(scalar->dtype));
      mine.scalars.push_back(other->scalars[next_scalar++]);
    } else if (const auto* random = std::get_if<ir::Random>(&node.op)) {
      moved.push_back(value_or_throw(mine.builder.add_random(random->fn, random->dtype, random->shape, node.site)));
    } else {
      moved.push_back(value_or_throw(mine.builder.add(node.op, refs, node.site)));
    }
    Storage* storage = other->nodes[i];
    mine.nodes.push_back(storage);
    if (storage != nullptr) {
      storage->recorder = &mine;
      storage->node = moved.back().index();
    }
  }
  other->nodes.clear();
  other->inputs.clear();
}

DeviceStats DeviceState::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace burn::client
