// A device from the inside: its session, the programs being recorded on it, and the tensors that wait to be released.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/fork.h"
#include "client/record/pacer.h"
#include "client/record/program_table.h"
#include "client/record/upload_table.h"
#include "client/scalar.h"
#include "client/value.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

class CaptureLog;
struct CapturedRun;
struct CapturedCall;

// A program under way on one thread. Guarded by the device's mutex.
class Recorder {
 public:
  ir::ProgramBuilder builder;
  std::vector<Storage*> values;  // the tensor of each value that nodes make while anyone holds it, else null
  std::vector<Storage*> inputs;  // the tensor of each input
  std::vector<std::uint64_t> scalars;
  proto::TensorId first_new = 0;  // tensors that came into being since the recording began have this id or a higher one
  std::uint64_t held_bytes = 0;   // of those among its inputs that nobody else holds any more
  std::uint64_t epoch = 0;  // rises with every program, so that a Storage's memory of its input index can be believed
  std::weak_ptr<DeviceState> device;
  CaptureLog* capture = nullptr;  // of the captured step that is being recorded: the program stays open until its end

  bool empty() const { return builder.empty(); }
};

// What a session was told, counted where it is said: programs defined and run. For tests and benchmarks.
struct DeviceStats {
  std::uint64_t programs_defined = 0, runs = 0, nodes_recorded = 0;
  std::uint64_t uploads = 0, uploads_reused = 0;  // reused: the device had the same bytes
};

// Where the random numbers of a device come from: a seed, and how many blocks of four have been drawn.
struct RandomStream {
  std::uint64_t seed = 0, offset = 0;
};

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  // Nodes after which a program is closed without being asked.
  static constexpr std::size_t kMaxRecorded = 16384;
  // Bytes of tensors that came and were dropped since the recording began, and that it alone keeps, after which it is
  // closed, too. What was there before does not count: a training step replaces any number of parameters in one
  // program.
  static constexpr std::uint64_t kMaxHeldBytes = std::uint64_t{256} << 20;

  static std::shared_ptr<DeviceState> create(std::string url, std::unique_ptr<proto::Session> session);
  ~DeviceState();

  const std::string& url() const { return url_; }
  proto::Session& session() {
    check_process();
    return *session_;
  }
  // Ok while the session works, as far as is known; else why not.
  Status health() const;

  // Appends a node to this thread's program. Throws what infer says. Requires: room for each of the op's results.
  void record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site,
              std::span<Ptr<Storage>> results);
  Ptr<Storage> record(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site) {
    Ptr<Storage> result;
    record(op, operands, site, {&result, 1});
    return result;
  }
  Ptr<Storage> record_scalar(Scalar value, ir::DType dtype);
  Ptr<Storage> record_random(const ir::Random& op, const ir::CallSite& site);  // in the next free part of the stream
  // A device behind a network that holds the same bytes under the same type is not sent them again.
  Ptr<Storage> upload(proto::HostTensor tensor);
  void reuse_uploads(bool wanted);  // what a device behind a network does by itself

  // The id of a materialised tensor; closes the program it is pending in first.
  proto::TensorId materialise(Storage& storage);
  void flush();      // this thread's program
  void flush_all();  // every thread's
  void seed(std::uint64_t seed);
  // The stream after what has been sent so far; and going on elsewhere in one, from this thread's next program on.
  RandomStream random_stream() const;
  void set_random_stream(RandomStream stream);
  void drop_last(Storage& storage);  // a Value goes that may be the last

  // For client/record/recording.h: the devices that this thread has used; its program so far (null if there is nothing
  // in it), and the thread starts afresh; appending such a program to this thread's; and taking one back that nobody
  // adopted.
  static std::vector<std::shared_ptr<DeviceState>> used_by_this_thread();
  std::shared_ptr<Recorder> detach_recording();
  void adopt_recording(std::shared_ptr<Recorder> other);
  void keep_recording(std::shared_ptr<Recorder> recorder);

  // For client/capture/capture.h. Closes what this thread has recorded and whatever else `values` are pending in;
  // `aliases` gets for each the index of the first that is the same tensor.
  void arrange(std::span<Value* const> values, std::vector<std::uint64_t>& aliases);
  // From here on this thread's program stays open, whatever asks for its end; reads, uploads and other devices are
  // refused.
  void begin_capture(CaptureLog& log);
  // Closes and sends the program. `holders`: the only Values that may hold something of it; `arguments`: the only
  // tensors from outside that it may use. Errors: another holder, or tensor; the recording is then an ordinary one.
  Result<CapturedRun> end_capture(std::span<Value* const> holders, std::span<const proto::TensorId> arguments);
  void abandon_capture();
  // Runs a captured program again; its results.
  std::vector<Ptr<Storage>> run_captured(CapturedCall call);

  // One step more is about to be recorded: waits while the device is too many of them behind.
  void pace() {
    check_process();
    pacer_.step();
  }
  Status take_paced_failure() { return pacer_.take_failure(); }

  DeviceStats stats() const;

 private:
  // Holds the mutex. The last tensor may go meanwhile, and with it the last owner of the device: that waits for the
  // unlock.
  class Lock {
   public:
    explicit Lock(DeviceState& device) : device_(device), lock_(device.checked_mutex()) {}
    ~Lock() {
      if (device_.tensors_ == 0) last_ = std::move(device_.self_);
    }

   private:
    DeviceState& device_;
    std::shared_ptr<DeviceState> last_;
    std::lock_guard<std::mutex> lock_;
  };

  struct Destroy;

  DeviceState(std::string url, std::unique_ptr<proto::Session> session);
  // A fork() has made this process, and the device stayed with its parent: locks may be held for ever, memory is given
  // up.
  bool is_of_parent() const { return forks_ != fork_count(); }
  void check_process() const {
    if (is_of_parent()) [[unlikely]]
      throw_if_error(health());
  }
  std::mutex& checked_mutex() const {
    check_process();
    return mutex_;
  }
  void begin_recording(Recorder& recorder);  // nothing of it yet
  Recorder& current();
  void prune_recorders();
  ir::Ref operand(Recorder& recorder, Storage& storage);
  Storage* new_storage(const ir::TensorType& type);
  void forget(Storage& storage);
  static void note_held(const Storage& storage, Recorder& recorder);  // by nobody but the recording
  // The tensors of a node's results, of which `first` is the first.
  void new_pending(Recorder& recorder, ir::Ref first, std::span<Ptr<Storage>> results);
  Ptr<Storage> new_pending(Recorder& recorder, ir::Ref ref) {
    Ptr<Storage> result;
    new_pending(recorder, ref, {&result, 1});
    return result;
  }
  void close_program(Recorder& recorder, CapturedRun* captured = nullptr);
  void refuse_in_capture(const char* what) const;
  void send_releases();
  // Names the program of a run, which the session is told if it does not know it.
  Status define(const std::shared_ptr<const ir::Program>& program, proto::Run& run);
  Status define(ir::ProgramBuilder& sealed, proto::Run& run);  // empties the builder
  // Unless its program was refused. What the run would have made is refused for the same reason, or for the run's own.
  void send_run(proto::Run run, Status defined, std::size_t outputs);
  void check_refused(const Storage& storage) const;

  const std::string url_;
  const std::uint32_t forks_;  // fork_count() when it was opened
  const std::uint64_t
      serial_;  // distinguishes this device in thread-local memory, also after its address is used again
  std::unique_ptr<proto::Session> session_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  proto::TensorId next_id_ = 1;
  std::uint64_t next_epoch_ = 1;
  ProgramTable programs_;
  std::unordered_map<proto::TensorId, Status> refused_;  // tensors that the session will never have, and why
  std::shared_ptr<DeviceState> self_;                    // while there are tensors
  std::int64_t tensors_ = 0;                             // that somebody holds
  UploadTable uploads_;
  bool reuses_uploads_;
  const std::size_t most_hashed_bytes_;
  std::vector<proto::TensorId> releases_;
  std::uint64_t release_bytes_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t random_offset_ = 0;
  DeviceStats stats_;
  Pacer pacer_;
};

}  // namespace burn::client
