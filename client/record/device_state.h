// A device from the inside: its session, the programs being recorded on it, and the tensors that wait to be released.
//
// Any thread. What threads share is in Guarded, and reached through a DeviceLock alone (but for how an upload is
// digested, which never changes); docs/threads.md has the order of locks.
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

// What a session was told, counted where it is said: programs defined and run. For tests and benchmarks.
struct DeviceStats {
  std::uint64_t programs_defined = 0, runs = 0, nodes_recorded = 0;
  std::uint64_t uploads = 0, uploads_reused = 0;  // reused: the device had the same bytes
};

// What a device's lock guards.
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

  // Appends a node to this thread's program. Throws what infer says. Requires: room for each of the op's results.
  void record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site,
              std::span<Ptr<Storage>> results);
  // The same for ops with one result, which nearly all have.
  Ptr<Storage> record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site);
  Ptr<Storage> record_scalar(Scalar value, ir::DType dtype);
  Ptr<Storage> record_random(const ir::Random& op, const ir::CallSite& site);  // in the next free part of the stream
  // Marked as the thread's BatchScope says. A device behind a network that holds the same bytes under the same type,
  // marked the same, is not sent them again.
  Ptr<Storage> upload(proto::HostTensor tensor);
  void reuse_uploads(bool wanted);  // what a device behind a network does by itself

  // The id of a materialised tensor; closes the program it is pending in first.
  proto::TensorId materialise(Storage& storage);
  void flush();                      // this thread's program
  void flush_all();                  // every thread's
  void drop_last(Storage& storage);  // a Value goes that may be the last

  void seed(std::uint64_t seed);
  // What every thread has recorded is sent first, and draws from the stream as it was.
  RandomState random_state();
  void set_random_state(const RandomState& state);
  // The state after what has been sent so far; and another for what follows this thread's program.
  RandomState sent_random_state();
  void continue_random_state(const RandomState& state);

  // One step more is about to be recorded: waits while the device is too many of them behind.
  void pace() {
    handle_.check_process();
    pacer_.step();
  }
  std::uint64_t steps_ahead() const { return pacer_.ahead(); }  // that it may be behind now
  Status take_paced_failure() { return pacer_.take_failure(); }
  void forget_paced_failure(const Status& told) { pacer_.forget_failure(told); }

  DeviceStats stats();

 private:
  friend class DeviceLock;
  struct Destroy;

  DeviceState(std::string url, std::unique_ptr<proto::Session> session);

  // One with the same contents and options; empty: there is none. `key` is set where it took the digest.
  Ptr<Storage> find_upload(const proto::HostTensor& tensor, proto::WriteOptions options,
                           std::optional<UploadTable::Key>& key);

  const SessionHandle handle_;
  const std::chrono::microseconds spin_time_;
  std::mutex mutex_;
  Guarded guarded_;
  Pacer pacer_;  // has a lock of its own
};

// Holds a device's lock, and gives what it guards. The last tensor may go meanwhile, and with it the last owner of the
// device: that waits for the unlock.
class DeviceLock {
 public:
  // Errors (thrown): the device stayed with the parent of this process.
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
  std::shared_ptr<DeviceState> last_;  // goes after the lock
  std::lock_guard<std::mutex> lock_;
};

}  // namespace burn::client
