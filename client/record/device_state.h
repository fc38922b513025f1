// The state of a device: its session, the programs being recorded on it, and its tensors.
//
// Thread-safe. The state that threads share is in Guarded, and accessed only through a DeviceLock (except
// UploadTable::digest(), which is constant); docs/threads.md has the order of locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "client/record/live_tensors.h"
#include "client/record/outbox.h"
#include "client/record/pacer.h"
#include "client/record/recorders.h"
#include "client/record/session_handle.h"
#include "client/record/upload_table.h"
#include "client/scalar.h"
#include "client/value.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

// Counts of the calls made to the session. For tests and benchmarks.
struct DeviceStats {
  std::uint64_t programs_defined = 0, runs = 0, nodes_recorded = 0;
  std::uint64_t uploads = 0, uploads_reused = 0;  // reused: not sent, as the device had the same bytes
};

// The state that a device's lock guards.
struct Guarded {
  Guarded(DeviceState& device, proto::Session& session);

  Outbox outbox;
  UploadTable uploads;
  LiveTensors tensors;
  Recorders recorders;
  bool reuses_uploads;
  std::uint64_t uploads_sent = 0, uploads_reused = 0;
};

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  static std::shared_ptr<DeviceState> create(std::string url, std::unique_ptr<proto::Session> session);
  ~DeviceState();

  const std::string& url() const { return handle_.url(); }
  proto::Session& session() const { return handle_.session(); }
  Status health() const { return handle_.health(); }
  const SessionHandle& handle() const { return handle_; }
  // How long to spin for an answer before sleeping.
  std::chrono::microseconds spin_time() const { return spin_time_; }

  // Appends a node to this thread's program. Errors (thrown): those of the op's shape rule. Requires: as many `results`
  // as the op has.
  void record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site,
              std::span<Ptr<Storage>> results);
  // The same for ops with one result, as nearly all are.
  Ptr<Storage> record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site);
  Ptr<Storage> record_scalar(Scalar value, ir::DType dtype);
  Ptr<Storage> record_random(const ir::Random& op, const ir::CallSite& site);  // draws next from the device's stream
  // Sends a tensor, with the batch axis of the thread's BatchScope. Nothing is sent to a device behind a network that
  // holds the same bytes with the same type and batch axis.
  Ptr<Storage> upload(proto::HostTensor tensor);
  void reuse_uploads(bool wanted);  // default: true for a device behind a network

  // The id of a materialised tensor; closes the program it is pending in first.
  proto::TensorId materialise(Storage& storage);
  void flush();                      // this thread's program
  void flush_all();                  // every thread's
  void drop_last(Storage& storage);  // called when a Value is destroyed that may be the last owner

  void seed(std::uint64_t seed);
  // The recordings of all threads are sent first, and draw from the stream before it changes.
  RandomState random_state();
  void set_random_state(const RandomState& state);
  // The state after the programs sent so far; sets the state for programs after this thread's.
  RandomState sent_random_state();
  void continue_random_state(const RandomState& state);

  // Called before a step is recorded: waits while the device is too many steps behind.
  void pace() {
    handle_.check_process();
    pacer_.step();
  }
  std::uint64_t steps_ahead() const { return pacer_.ahead(); }  // how many steps the device may be behind now
  Status take_paced_failure() { return pacer_.take_failure(); }
  void forget_paced_failure(const Status& reported) { pacer_.forget_failure(reported); }

  DeviceStats stats();

 private:
  friend class DeviceLock;
  struct Destroy;

  DeviceState(std::string url, std::unique_ptr<proto::Session> session);

  // A known upload with the same contents and options; empty if there is none. Sets `key` if the digest was computed.
  Ptr<Storage> find_upload(const proto::HostTensor& tensor, proto::WriteOptions options,
                           std::optional<UploadTable::Key>& key);

  const SessionHandle handle_;
  const std::chrono::microseconds spin_time_;
  std::mutex mutex_;
  Guarded guarded_;
  Pacer pacer_;  // has a lock of its own
};

// Holds a device's lock, and gives access to what it guards. If the last tensor is destroyed meanwhile, the device may
// lose its last owner: it is destroyed after the unlock.
class DeviceLock {
 public:
  // Errors (thrown): the device belongs to the parent of this process.
  explicit DeviceLock(DeviceState& device) : guarded_(device.guarded_), lock_(checked(device)) {}
  ~DeviceLock() {
    if (guarded_.tensors.none_held()) last_ = guarded_.tensors.take_owner();
  }
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  Guarded* operator->() const { return &guarded_; }

 private:
  static std::mutex& checked(DeviceState& device) {
    device.handle_.check_process();
    return device.mutex_;
  }

  Guarded& guarded_;
  std::shared_ptr<DeviceState> last_;  // destroyed after lock_
  std::lock_guard<std::mutex> lock_;
};

}  // namespace burn::client
