// A device from the inside: its session, the programs being recorded on it, and the tensors that wait to be released.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/scalar.h"
#include "client/value.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

// A program under way on one thread. Guarded by the device's mutex.
class Recorder {
 public:
  ir::ProgramBuilder builder;
  std::vector<Storage*> nodes;    // the tensor of each node while anyone holds it, else null
  std::vector<Storage*> inputs;   // the tensor of each input
  std::vector<std::uint64_t> scalars;
  std::uint64_t epoch = 0;        // rises with every program, so that a Storage's memory of its input index can be believed
  std::weak_ptr<DeviceState> device;

  bool empty() const { return builder.empty(); }
};

// What a session was told, counted where it is said: programs defined and run. For tests and benchmarks.
struct DeviceStats {
  std::uint64_t programs_defined = 0, runs = 0, nodes_recorded = 0;
};

// Where the random numbers of a device come from: a seed, and how many blocks of four have been drawn.
struct RandomStream {
  std::uint64_t seed = 0, offset = 0;
};

class DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  // Nodes after which a program is closed without being asked.
  static constexpr std::size_t kMaxRecorded = 16384;
  // Programs remembered; beyond it the least recently run one gives its id to the next.
  static constexpr std::size_t kMaxPrograms = 4096;

  static std::shared_ptr<DeviceState> create(std::string url, std::unique_ptr<proto::Session> session);
  ~DeviceState();

  const std::string& url() const { return url_; }
  proto::Session& session() { return *session_; }

  // Appends a node to this thread's program. Throws what infer says.
  Ptr<Storage> record(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site);
  Ptr<Storage> record_scalar(Scalar value, ir::DType dtype);
  Ptr<Storage> record_random(ir::RandomFn fn, ir::DType dtype, const ir::Shape& shape, const ir::CallSite& site);
  Ptr<Storage> upload(proto::HostTensor tensor);

  // The id of a materialised tensor; closes the program it is pending in first.
  proto::TensorId materialise(Storage& storage);
  void flush();      // this thread's program
  void flush_all();  // every thread's
  void seed(std::uint64_t seed);
  // The stream after what has been sent so far; and going on elsewhere in one, from this thread's next program on.
  RandomStream random_stream() const;
  void set_random_stream(RandomStream stream);
  void dropped(Storage& storage);  // the last Value is gone

  // For client/recording.h: the devices that this thread has used; its program so far (null if there is nothing in it),
  // and the thread starts afresh; appending such a program to this thread's; and taking one back that nobody adopted.
  static std::vector<std::shared_ptr<DeviceState>> used_by_this_thread();
  std::shared_ptr<Recorder> detach_recording();
  void adopt_recording(std::shared_ptr<Recorder> other);
  void keep_recording(std::shared_ptr<Recorder> recorder);

  DeviceStats stats() const;

 private:
  struct KnownProgram {
    ir::ProgramHash hash;
    proto::ProgramId id;
  };
  struct HashOfHash {
    std::size_t operator()(const ir::ProgramHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };

  DeviceState(std::string url, std::unique_ptr<proto::Session> session);
  Recorder& current();
  void prune_recorders();
  ir::Ref operand(Recorder& recorder, Storage& storage);
  Ptr<Storage> new_pending(Recorder& recorder, ir::Ref ref);
  void close_program(Recorder& recorder);
  void send_releases();
  proto::ProgramId define(const std::shared_ptr<const ir::Program>& program);

  const std::string url_;
  const std::uint64_t serial_;  // distinguishes this device in thread-local memory, also after its address is used again
  std::unique_ptr<proto::Session> session_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  proto::TensorId next_id_ = 1;
  std::uint64_t next_epoch_ = 1;
  std::list<KnownProgram> programs_;  // most recently run first
  std::unordered_map<ir::ProgramHash, std::list<KnownProgram>::iterator, HashOfHash> program_index_;
  std::vector<proto::TensorId> releases_;
  std::uint64_t release_bytes_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t random_offset_ = 0;
  DeviceStats stats_;
};

}  // namespace burn::client
