#include "client/record/device_state.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "base/thread.h"
#include "client/batch_scope.h"
#include "client/record/capture_log.h"
#include "client/spin.h"

namespace burn::client {
namespace {

// The size of the largest upload that is added to the UploadTable.
std::size_t max_known_bytes(const proto::Session& session) {
  return session.traits().shares_memory ? UploadTable::kMaxBytesInMemory : std::numeric_limits<std::size_t>::max();
}

std::chrono::microseconds spin_time_for(const proto::Session& session) {
  return session.traits().spares_cores && cores_to_spare() > 0 ? kSpinTimeWithGpu : kSpinTime;
}

[[noreturn]] void refuse_random_state_in_capture() {
  throw Error(StatusCode::failed_precondition,
              "a captured step cannot seed its device, nor get or set the state of its random numbers: do it between "
              "calls");
}

}  // namespace

Guarded::Guarded(DeviceState& device, proto::Session& session)
    : outbox(session),
      tensors(outbox, uploads),
      recorders(device, tensors, outbox),
      reuses_uploads(session.traits().is_remote) {}

// --- construction and destruction ------------------------------------------------------------------------------------

// Closing a session waits for its threads. If a callback on one of these threads drops the last reference, the device
// is therefore deleted on a new thread.
struct DeviceState::Destroy {
  void operator()(DeviceState* device) const {
    if (device->handle_.is_of_parent()) return;
    if (device->handle_.session().is_on_own_thread()) {
      start_thread("burn-close", [device] { delete device; }).detach();
    } else {
      delete device;
    }
  }
};

std::shared_ptr<DeviceState> DeviceState::create(std::string url, std::unique_ptr<proto::Session> session) {
  return std::shared_ptr<DeviceState>(new DeviceState(std::move(url), std::move(session)), Destroy{});
}

DeviceState::DeviceState(std::string url, std::unique_ptr<proto::Session> session)
    : handle_(std::move(url), std::move(session)),
      spin_time_(spin_time_for(handle_.unchecked())),
      guarded_(*this, handle_.unchecked()),
      pacer_(handle_.unchecked(), [&session = handle_.unchecked()] { return session.traits().round_trip; }) {}

DeviceState::~DeviceState() { handle_.unchecked().close(); }

// --- recording -------------------------------------------------------------------------------------------------------

Ptr<Storage> DeviceState::record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
  const DeviceLock lock(*this);
  Recorders& recorders = lock->recorders;
  Recorder& recorder = recorders.current();
  const auto value = recorders.append(recorder, op, operands, site);
  BURN_CHECK(recorder.builder.program().nodes.back().value_count == 1, "apply_all is for several results");
  auto result = recorders.new_pending(recorder, value);
  recorders.close_if_full(recorder);
  return result;
}

void DeviceState::record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site,
                         std::span<Ptr<Storage>> results) {
  const DeviceLock lock(*this);
  Recorders& recorders = lock->recorders;
  Recorder& recorder = recorders.current();
  const auto first = recorders.append(recorder, op, operands, site);
  BURN_CHECK(recorder.builder.program().nodes.back().value_count == results.size(), "room for each result");
  for (std::size_t k = 0; k < results.size(); ++k) {
    results[k] = recorders.new_pending(recorder, first.result(static_cast<int>(k)));
  }
  recorders.close_if_full(recorder);
}

Ptr<Storage> DeviceState::record_scalar(Scalar value, ir::DType dtype) {
  const DeviceLock lock(*this);
  Recorders& recorders = lock->recorders;
  Recorder& recorder = recorders.current();
  if (recorder.capture != nullptr) recorder.capture->scalar(recorder.scalars.size(), value, dtype);
  const auto ref = recorder.builder.add_scalar(dtype);
  recorder.scalars.push_back(static_cast<std::uint64_t>(value.bits(dtype)));
  auto result = recorders.new_pending(recorder, ref);
  recorders.close_if_full(recorder);
  return result;
}

Ptr<Storage> DeviceState::record_random(const ir::Random& op, const ir::CallSite& site) {
  const DeviceLock lock(*this);
  Recorders& recorders = lock->recorders;
  Recorder& recorder = recorders.current();
  auto result = recorders.new_pending(recorder, value_or_throw(recorder.builder.add_random(op, site)));
  recorders.close_if_full(recorder);
  return result;
}

proto::TensorId DeviceState::materialise(Storage& storage) {
  const DeviceLock lock(*this);
  if (storage.recorder != nullptr) lock->recorders.close(*storage.recorder);
  if (storage.recorder != nullptr) refuse_in_capture("read before it has ended");
  lock->outbox.check_refused(storage);
  return storage.id;
}

void DeviceState::flush() {
  const DeviceLock lock(*this);
  lock->recorders.close(lock->recorders.current());
  lock->outbox.send_releases();
}

void DeviceState::flush_all() {
  const DeviceLock lock(*this);
  lock->recorders.close_all();
  lock->outbox.send_releases();
}

void DeviceState::drop_last(Storage& storage) {
  if (handle_.is_of_parent()) return;
  const DeviceLock lock(*this);
  lock->tensors.drop(storage);
}

// --- uploads ---------------------------------------------------------------------------------------------------------

Ptr<Storage> DeviceState::upload(proto::HostTensor tensor) {
  if (thread_recorders().capture != nullptr) refuse_in_capture("uploaded inside it; it is an argument");
  const proto::WriteOptions options{.batch_axis = BatchScope::axis_of(tensor.type.shape)};
  const std::size_t size = tensor.bytes.size();
  const bool is_worth_knowing = size >= UploadTable::kMinBytes && size <= max_known_bytes(handle_.unchecked()) &&
                                DeviceLock(*this)->reuses_uploads;
  std::optional<UploadTable::Key> key;
  if (is_worth_knowing) {
    if (auto known = find_upload(tensor, options, key)) {
      const DeviceLock lock(*this);
      lock->uploads_reused += 1;
      return known;
    }
  }
  Ptr<Storage> result;
  {
    const DeviceLock lock(*this);
    lock->uploads_sent += 1;
    result = lock->tensors.make(tensor.type, *this);
    result->id = lock->tensors.take_id();
  }
  const SharedBytes bytes = is_worth_knowing ? tensor.bytes : SharedBytes{};
  // Outside the lock: a write may wait for the peer, and the tensor can be used only after this returns.
  throw_if_error(handle_.unchecked().write(result->id, std::move(tensor), options));
  if (is_worth_knowing) {  // only after the write, as other threads may use a known upload at once
    const DeviceLock lock(*this);
    key ? lock->uploads.add(*key, *result) : lock->uploads.add(bytes, options, *result);
  }
  return result;
}

Ptr<Storage> DeviceState::find_upload(const proto::HostTensor& tensor, proto::WriteOptions options,
                                      std::optional<UploadTable::Key>& key) {
  {
    const DeviceLock lock(*this);
    auto found = lock->uploads.find(tensor, options);
    if (found || !lock->uploads.needs_digest(tensor)) return found;
  }
  key = guarded_.uploads.digest(tensor, options);  // without the lock, as it may take long
  const DeviceLock lock(*this);
  return lock->uploads.find(*key);
}

void DeviceState::reuse_uploads(bool wanted) {
  const DeviceLock lock(*this);
  lock->reuses_uploads = wanted;
}

// --- random numbers --------------------------------------------------------------------------------------------------

void DeviceState::seed(std::uint64_t seed) {
  if (thread_recorders().capture != nullptr) refuse_random_state_in_capture();
  const DeviceLock lock(*this);
  lock->recorders.close_all();  // recorded ops draw from the old stream
  lock->recorders.random = {seed, 0};
}

RandomState DeviceState::random_state() {
  if (thread_recorders().capture != nullptr) refuse_random_state_in_capture();
  const DeviceLock lock(*this);
  lock->recorders.close_all();
  return lock->recorders.random;
}

void DeviceState::set_random_state(const RandomState& state) {
  if (thread_recorders().capture != nullptr) refuse_random_state_in_capture();
  const DeviceLock lock(*this);
  lock->recorders.close_all();
  lock->recorders.random = state;
}

RandomState DeviceState::sent_random_state() {
  const DeviceLock lock(*this);
  return lock->recorders.random;
}

void DeviceState::continue_random_state(const RandomState& state) {
  if (thread_recorders().capture != nullptr) refuse_random_state_in_capture();
  const DeviceLock lock(*this);
  lock->recorders.close(lock->recorders.current());
  lock->recorders.random = state;
}

DeviceStats DeviceState::stats() {
  const DeviceLock lock(*this);
  return {lock->outbox.programs_defined(), lock->outbox.runs(), lock->recorders.nodes_recorded(), lock->uploads_sent,
          lock->uploads_reused};
}

}  // namespace burn::client
