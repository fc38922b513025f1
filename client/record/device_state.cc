#include "client/record/device_state.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <thread>
#include <utility>

#include "base/error.h"
#include "client/record/capture_log.h"
#include "client/record/thread_recorders.h"
#include "net/remote/remote_session.h"

namespace burn::client {
namespace {

// Dropped tensors are named in the next run; past this many bytes they are released at once.
constexpr std::uint64_t kReleaseAtBytes = std::uint64_t{16} << 20;
constexpr std::size_t kReleaseAtCount = 256;

std::atomic<std::uint64_t> next_device_serial{1};

[[noreturn]] void refuse_other_device(const ir::Op& op, const std::shared_ptr<DeviceState>& a,
                                      const std::shared_ptr<DeviceState>& b, const ir::CallSite& site) {
  std::string why = std::string{ir::name(op)} + ": operands are on different devices, " + a->url() + " and " + b->url();
  for (const auto& device : {a, b}) {
    if (const Status health = device->health(); !health.ok()) why += "; " + health.message();
  }
  throw Error(StatusCode::invalid_argument, why + " (at " + ir::to_string(site) + ")");
}

std::size_t most_hashed_bytes(const proto::Session& session) {
  const auto* remote = dynamic_cast<const net::RemoteSession*>(&session);
  return remote && remote->is_shared_memory() ? UploadTable::kMostBytesInMemory
                                              : std::numeric_limits<std::size_t>::max();
}

}  // namespace

// A session is closed by waiting for its threads, which one of them cannot do: its callback may hold the device last.
struct DeviceState::Destroy {
  void operator()(DeviceState* device) const {
    if (device->is_of_parent()) return;
    if (device->session_->is_on_own_thread()) {
      std::thread([device] { delete device; }).detach();
    } else {
      delete device;
    }
  }
};

std::shared_ptr<DeviceState> DeviceState::create(std::string url, std::unique_ptr<proto::Session> session) {
  return std::shared_ptr<DeviceState>(new DeviceState(std::move(url), std::move(session)), Destroy{});
}

Status DeviceState::health() const {
  if (!is_of_parent()) return session_->health();
  return failed_precondition("device " + url_ +
                             " was opened before fork() made this process, and stayed with its parent, as did its "
                             "tensors; this process opens one of its own by the same URL");
}

DeviceState::DeviceState(std::string url, std::unique_ptr<proto::Session> session)
    : url_(std::move(url)),
      forks_((watch_forks(), fork_count())),
      serial_(next_device_serial.fetch_add(1)),
      session_(std::move(session)),
      programs_(session_->info()),
      reuses_uploads_(dynamic_cast<net::RemoteSession*>(session_.get()) != nullptr),
      most_hashed_bytes_(most_hashed_bytes(*session_)),
      seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()),
      pacer_(*session_) {}

DeviceState::~DeviceState() {
  // Nobody holds a tensor any more: what is recorded still will not be wanted, but holds what it would have read.
  for (const auto& recorder : recorders_) {
    for (Storage* input : std::exchange(recorder->inputs, {})) {
      if (--input->readers == 0) delete input;
    }
  }
  session_->close();
}

void DeviceState::begin_recording(Recorder& recorder) {
  recorder.epoch = next_epoch_++;
  recorder.first_new = next_id_;
  recorder.held_bytes = 0;
}

Recorder& DeviceState::current() {
  if (last_recorder.serial == serial_) return *last_recorder.recorder;
  auto& mine = thread_recorders();
  if (mine.capture != nullptr) {
    throw Error(StatusCode::failed_precondition, "a captured step uses one device; this one also uses " + url_);
  }
  auto& recorder = mine.all[serial_];
  if (!recorder) {
    recorder = std::make_shared<Recorder>();
    begin_recording(*recorder);
    recorder->device = weak_from_this();
    prune_recorders();
    recorders_.push_back(recorder);
    // Devices that are gone left their recorders to this thread alone.
    std::erase_if(mine.all, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
  last_recorder = {serial_, mine.all[serial_].get()};
  return *last_recorder.recorder;
}

void DeviceState::prune_recorders() {
  std::erase_if(recorders_, [this](const std::shared_ptr<Recorder>& recorder) {
    if (recorder.use_count() > 1) return false;
    const auto is_held = [](const Storage* storage) { return storage != nullptr; };
    if (std::any_of(recorder->values.begin(), recorder->values.end(), is_held)) return false;
    close_program(*recorder);  // its thread is gone and nobody waits for its results
    return true;
  });
}

ir::Ref DeviceState::operand(Recorder& recorder, Storage& storage) {
  if (storage.recorder == &recorder) return ir::Ref::value(storage.value);
  if (storage.recorder != nullptr) {  // another thread's: from here on it has an id
    close_program(*storage.recorder);
    if (storage.recorder != nullptr) refuse_in_capture("used by another thread");
  }
  if (storage.input_of == &recorder && storage.input_epoch == recorder.epoch)
    return ir::Ref::input(storage.input_index);
  check_refused(storage);
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

Storage* DeviceState::new_storage(const ir::TensorType& type) {
  auto* storage = new Storage;
  if (tensors_++ == 0) self_ = shared_from_this();
  storage->type = type;
  storage->device = &self_;
  return storage;
}

void DeviceState::forget(Storage& storage) {
  if (!refused_.empty()) refused_.erase(storage.id);
  if (storage.is_known_upload) uploads_.remove(storage);
  delete &storage;
}

void DeviceState::new_pending(Recorder& recorder, ir::Ref first, std::span<Ptr<Storage>> results) {
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto ref = first.result(static_cast<int>(k));
    Storage* storage = new_storage(recorder.builder.type_of(ref));
    storage->recorder = &recorder;
    storage->value = ref.index();
    recorder.values.push_back(storage);
    results[k] = Ptr<Storage>{storage};
  }
  stats_.nodes_recorded += 1;
  if (recorder.builder.size() >= kMaxRecorded || recorder.held_bytes >= kMaxHeldBytes) close_program(recorder);
}

void DeviceState::record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site,
                         std::span<Ptr<Storage>> results) {
  const Lock lock(*this);
  Recorder& recorder = current();
  Few<ir::Ref, 4> refs{operands.size()};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Storage& storage = *operands[i]->storage();
    if (storage.device != &self_) refuse_other_device(op, operands[0]->device(), *storage.device, site);
    refs[i] = operand(recorder, storage);
  }
  const auto ref = recorder.builder.add(op, refs.span(), site);
  if (!ref.ok()) {
    throw Error(ref.status().code(), ref.status().message() + " (at " + ir::to_string(site) + ")");
  }
  BURN_CHECK(results.size() == recorder.builder.program().nodes.back().value_count, "apply_all is for several results");
  new_pending(recorder, *ref, results);
}

Ptr<Storage> DeviceState::record_scalar(Scalar value, ir::DType dtype) {
  const Lock lock(*this);
  Recorder& recorder = current();
  if (recorder.capture != nullptr) recorder.capture->scalar(recorder.scalars.size(), value, dtype);
  const auto ref = recorder.builder.add_scalar(dtype);
  recorder.scalars.push_back(static_cast<std::uint64_t>(value.bits(dtype)));
  return new_pending(recorder, ref);
}

Ptr<Storage> DeviceState::record_random(const ir::Random& op, const ir::CallSite& site) {
  const Lock lock(*this);
  Recorder& recorder = current();
  return new_pending(recorder, value_or_throw(recorder.builder.add_random(op, site)));
}

Ptr<Storage> DeviceState::upload(proto::HostTensor tensor) {
  if (thread_recorders().capture != nullptr) refuse_in_capture("uploaded inside it; it is an argument");
  UploadTable::Key key;
  const std::size_t size = tensor.bytes.size();
  const bool is_worth_knowing = reuses_uploads_ && size >= UploadTable::kLeastBytes && size <= most_hashed_bytes_;
  if (is_worth_knowing) key = uploads_.digest(tensor);
  Ptr<Storage> result;
  {
    const Lock lock(*this);
    if (is_worth_knowing) {
      if (auto known = uploads_.find(key)) {
        stats_.uploads_reused += 1;
        return known;
      }
    }
    stats_.uploads += 1;
    result = Ptr<Storage>{new_storage(tensor.type)};
    result->id = next_id_++;
  }
  // Outside the lock: a write may wait for the peer, and whoever uses the tensor can only do so after this returns.
  throw_if_error(session_->write(result->id, std::move(tensor)));
  if (is_worth_knowing) {  // only now, as others may use what they find there at once
    const Lock lock(*this);
    uploads_.add(key, *result);
  }
  return result;
}

void DeviceState::reuse_uploads(bool wanted) {
  const Lock lock(*this);
  reuses_uploads_ = wanted;
}

void DeviceState::drop_last(Storage& storage) {
  if (is_of_parent()) return;
  const Lock lock(*this);
  if (storage.owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;  // somebody else has found it meanwhile
  tensors_ -= 1;
  if (storage.recorder != nullptr) {
    storage.recorder->values[static_cast<std::size_t>(storage.value)] = nullptr;
    forget(storage);
  } else if (storage.id == 0 || refused_.contains(storage.id)) {  // given away to a run, or never made
    forget(storage);
  } else if (storage.readers == 0) {
    releases_.push_back(storage.id);
    release_bytes_ += storage.type.num_bytes();
    forget(storage);
    if (release_bytes_ >= kReleaseAtBytes || releases_.size() >= kReleaseAtCount) send_releases();
  } else if (storage.input_of != nullptr) {  // of a program being recorded: closing that gives it away
    note_held(storage, *storage.input_of);
  }
}

void DeviceState::note_held(const Storage& storage, Recorder& recorder) {
  if (storage.id >= recorder.first_new) recorder.held_bytes += storage.type.num_bytes();
}

void DeviceState::send_releases() {
  if (releases_.empty()) return;
  release_bytes_ = 0;
  (void)session_->release(
      std::exchange(releases_, {}));  // refused by a broken session only, which has nothing to release
}

proto::TensorId DeviceState::materialise(Storage& storage) {
  const Lock lock(*this);
  if (storage.recorder != nullptr) close_program(*storage.recorder);
  if (storage.recorder != nullptr) refuse_in_capture("read before it has ended");
  check_refused(storage);
  return storage.id;
}

void DeviceState::flush() {
  const Lock lock(*this);
  close_program(current());
  send_releases();
}

void DeviceState::flush_all() {
  const Lock lock(*this);
  for (const auto& recorder : recorders_) close_program(*recorder);
  send_releases();
}

void DeviceState::seed(std::uint64_t seed) {
  if (thread_recorders().capture != nullptr) refuse_in_capture("seeded inside it");
  const Lock lock(*this);
  for (const auto& recorder : recorders_) close_program(*recorder);  // what was recorded belongs to the old stream
  seed_ = seed;
  random_offset_ = 0;
}

RandomStream DeviceState::random_stream() const {
  const std::lock_guard lock(checked_mutex());
  return {seed_, random_offset_};
}

void DeviceState::set_random_stream(RandomStream stream) {
  if (thread_recorders().capture != nullptr) refuse_in_capture("seeded inside it");
  const Lock lock(*this);
  close_program(current());
  seed_ = stream.seed;
  random_offset_ = stream.offset;
}

DeviceStats DeviceState::stats() const {
  const std::lock_guard lock(checked_mutex());
  return stats_;
}

}  // namespace burn::client
