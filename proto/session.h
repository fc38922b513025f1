// The interface between a client and the owner of its tensors: this process, a server, or workers behind a router.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "base/trace_context.h"
#include "ir/ops/collectives.h"
#include "ir/program.h"

namespace burn::proto {

// Chosen by the client. A tensor's id is unique within its session and never reused; a program's id may be reused for
// another program.
using TensorId = std::uint64_t;
using ProgramId = std::uint64_t;

// A tensor's numbers in host memory: row-major, little-endian, bool as one byte 0 or 1.
struct HostTensor {
  ir::TensorType type;
  SharedBytes bytes;  // type.num_bytes() bytes
};

// How a written tensor may be split. Does not change any result: a router may split a marked tensor over its workers; a
// worker ignores the mark.
struct WriteOptions {
  std::optional<std::int32_t> batch_axis = {};  // the axis of the batch's items; not negative
  friend bool operator==(const WriteOptions&, const WriteOptions&) = default;
};
// Errors: INVALID_ARGUMENT, naming axis and type, if the type does not have that axis.
Status check_batch_axis(const WriteOptions& options, const ir::TensorType& type);

// One execution of a defined program.
struct Run {
  ProgramId program = 0;
  std::vector<TensorId> inputs;        // one per program input; the run releases donated ones
  TensorId first_output = 0;           // outputs are named first_output, first_output + 1, ...
  std::vector<std::uint64_t> scalars;  // bits as in ir::Constant: a double's for floats, otherwise an int64's
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;  // in blocks of four numbers; ops add their own
  std::vector<TensorId> release;    // further tensors to release once the run is done
  TraceContext trace = {};          // the caller's span, if the run is traced
  friend bool operator==(const Run&, const Run&) = default;
};

// The server's description of itself and its limits.
struct SessionInfo {
  std::string server;                // "burn-server 0.1.0"
  std::string session;               // an opaque name for logs
  std::vector<std::string> devices;  // all devices of the server: "cpu", "cuda:0"
  std::uint64_t max_tensor_bytes = 0;
  std::uint64_t max_in_flight = 0;        // ordered messages that may be unacknowledged
  std::uint64_t bulk_credit = 0;          // bytes of upload chunks that may be in flight
  std::uint64_t max_programs = 0;         // that may be defined at a time; 0: unknown
  std::uint64_t max_program_entries = 0;  // ir::num_entries of all of them; 0: unknown
  std::string instance = {};              // 16 random bytes that identify the server process; empty: unknown
  std::uint64_t numerics = 0;             // equal if devices compute the same bits; 0: unknown
  std::string role = {};                  // "worker" or "router"; empty: unknown
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

// How calls reach the owner of the tensors, as far as is known. Clients choose by it how to wait, hash and pace.
struct SessionTraits {
  bool is_remote = false;      // in another process: not worth sending bytes that it already has
  bool shares_memory = false;  // bytes are passed through shared memory, which is cheaper than hashing them
  bool spares_cores = false;   // computing needs no core of this process, so a waiting thread may spin
  // Time from a call to its answer, if no other call waits; std::nullopt: not known yet.
  std::optional<std::chrono::nanoseconds> round_trip = std::chrono::nanoseconds{0};
};

// Resources used on a device: by one session, or by all sessions.
struct Usage {
  std::uint64_t memory_in_use = 0;    // bytes of tensors, and of what runs use in addition
  std::uint64_t memory_peak = 0;      // the highest memory_in_use so far
  std::uint64_t memory_reserved = 0;  // session: with its host_bytes; device: allocated from the system
  std::uint64_t memory_limit = 0;     // beyond which calls fail with RESOURCE_EXHAUSTED
  std::uint64_t host_bytes = 0;       // of waiting calls, programs with their plans, and tables
  std::uint64_t runs = 0;             // so far
  // Time spent on compiling and running programs so far. For a device the sum over its sessions, which may work
  // concurrently. For asynchronous devices (GPUs) the time to submit the work.
  double busy_seconds = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

// A worker of a router, as the router sees it.
struct MemberStats {
  std::string name;  // of SessionInfo::devices
  std::string url;
  double weight = 1;           // relative size of its share of split values
  std::string lost = {};       // why there is no connection to it; empty: there is one
  std::uint64_t sessions = 0;  // sessions of the router's clients that use it now
  Usage device = {};           // by all sessions of the worker, as last reported
  friend bool operator==(const MemberStats&, const MemberStats&) = default;
};

struct SessionStats {
  Usage session, device;
  std::uint64_t programs = 0;             // programs defined in the session so far
  std::uint64_t queued = 0;               // the session's waiting calls
  std::vector<MemberStats> members = {};  // only in a session on a router's device "status"
  friend bool operator==(const SessionStats&, const SessionStats&) = default;
};

// A session's place in a group of sessions that perform collectives together (ir/ops/collectives.h).
struct GroupPlace {
  std::uint32_t group = 0;  // its number in programs: `group` of a collective
  std::uint64_t epoch = 0;  // assigned by the coordinator, which forms the groups; the highest one is valid
  std::uint32_t rank = 0, size = 1;
  std::string ticket;  // kTicketBytes secret random bytes, shared by the members of the group
  friend bool operator==(const GroupPlace&, const GroupPlace&) = default;
};
inline constexpr std::size_t kTicketBytes = 16;
inline constexpr std::size_t kMaxAddressBytes = 256;  // of a member, as returned by prepare_group()
inline constexpr std::size_t kMaxGroupMembers = ir::kMaxMembers;
inline constexpr std::chrono::minutes kMaxGroupDeadline{10};  // of open_group()

// A client's session with the owner of its tensors.
//
// Calls are asynchronous, take effect in the order they are made, and may be made from any thread. A failed Status
// means that the session is broken (the peer is gone) and all later calls fail, or that this call was refused and had
// no effect. A step of a run that fails poisons the outputs that are computed from it, and no others; a run that is
// refused, or whose program was refused, poisons all its outputs. A read of a poisoned tensor, or of a value computed
// from one, fails with the first cause. Callbacks run on threads of the session and must not block; of the session's
// functions they may call only asynchronous ones. Each callback is called exactly once, at the latest by close().
class Session {
 public:
  using ReadCallback = std::function<void(Result<HostTensor>)>;
  using SyncCallback = std::function<void(Status)>;
  using StatsCallback = std::function<void(Result<SessionStats>)>;
  using AddressCallback = std::function<void(Result<std::string>)>;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // Waits until the peer has answered. Empty if it never does; health() then says why.
  virtual const SessionInfo& info() const = 0;
  virtual const SessionInfo* known_info() const { return &info(); }  // null until then; does not wait
  // May change until known_info() is not null, and with a new connection. Does not block; thread-safe.
  virtual SessionTraits traits() const { return {}; }
  // Ok until the session is broken or closed, then the reason. Returns what is known now, without asking the peer;
  // thread-safe.
  virtual Status health() const { return {}; }
  // The time when the peer will end the session, if it has announced that it drains (and accepts no new sessions);
  // std::nullopt otherwise. The first call asks the peer to send announcements to this client and to keep the session
  // until that time; peers of older versions do neither. Does not block; thread-safe.
  virtual std::optional<std::chrono::steady_clock::time_point> announced_end() { return std::nullopt; }

  // Defines `program` as `id`. Removes the programs `forget` and any earlier program of that id, even if the program is
  // refused.
  virtual Status define(ProgramId id, std::shared_ptr<const ir::Program> program, std::vector<ProgramId> forget) = 0;
  virtual Status run(Run run) = 0;
  // May block while more data is in flight than the peer allows. Options that do not fit the tensor fail the write.
  virtual Status write(TensorId id, HostTensor tensor, WriteOptions options = {}) = 0;
  virtual Status release(std::vector<TensorId> ids) = 0;
  virtual void read(TensorId id, ReadCallback done) = 0;
  // Calls `done` when all earlier calls are done, with the first failure since the last sync that no read has reported.
  virtual void sync(SyncCallback done) = 0;
  // Resources that the session and its device use. Outside the order of calls: answered at once, before waiting calls.
  // Errors: UNIMPLEMENTED for a session without statistics, and for a peer that is too old.
  virtual void stats(const StatsCallback& done);

  // Groups. These calls are outside the order, too, so that a session whose run waits for the other members executes
  // them. Repeating a call with the same arguments has no further effect.
  // Makes the session listen for the other members of a group; `done` gets its address for them (opaque bytes). A new
  // epoch ends the session's groups of older epochs.
  // Errors: INVALID_ARGUMENT for an invalid place; FAILED_PRECONDITION for an epoch that is over, or another place in
  // this epoch; RESOURCE_EXHAUSTED; UNIMPLEMENTED for a session that forms no groups.
  virtual void prepare_group(const GroupPlace& place, const AddressCallback& done);
  // Connects to the other members at `addresses`, the results of prepare_group() by rank. `done` is called when all
  // members are connected: from then on runs may have collectives of the group. Called again, it tells whether the
  // group still works.
  // Errors: those of prepare_group(); FAILED_PRECONDITION without prepare_group(); UNAVAILABLE for a member that cannot
  // be reached; DEADLINE_EXCEEDED, naming the members that are missing; the reason of an abort_group() meanwhile.
  virtual void open_group(const GroupPlace& place, std::vector<std::string> addresses,
                          std::chrono::milliseconds deadline, const SyncCallback& done);
  // Ends the group: collectives that wait and later ones fail with this reason. No effect if the session has no such
  // group of that epoch.
  virtual void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why);

  // Calls between the two may be sent together. Thread-safe; bursts may overlap. See Burst.
  virtual void begin_burst() {}
  virtual void end_burst() {}
  // Ends the session; waits for callbacks to finish. Idempotent. The destructor calls it.
  virtual void close() = 0;
  // Whether the caller is a thread that close() would wait for.
  virtual bool is_on_own_thread() const { return false; }
};

class Burst {
 public:
  explicit Burst(Session& session) : session_(session) { session_.begin_burst(); }
  ~Burst() { session_.end_burst(); }
  Burst(const Burst&) = delete;
  Burst& operator=(const Burst&) = delete;

 private:
  Session& session_;
};

}  // namespace burn::proto
