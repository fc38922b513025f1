// The seam between a client and whatever owns its tensors: this process, a server, or a fleet behind a router.
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

// Chosen by the client. A tensor's is unique within its session and never reused; a program's may be given to another
// program.
using TensorId = std::uint64_t;
using ProgramId = std::uint64_t;

// A tensor's numbers in host memory: row-major, little-endian, bool as one byte 0 or 1.
struct HostTensor {
  ir::TensorType type;
  SharedBytes bytes;  // type.num_bytes() of them
};

// What a program says of a tensor that it writes. It changes no result: a router may split what is marked over its
// workers, a worker takes it as any other tensor.
struct WriteOptions {
  std::optional<std::int32_t> batch_axis = {};  // along which it has the items of a batch; not negative
  friend bool operator==(const WriteOptions&, const WriteOptions&) = default;
};
// Errors: INVALID_ARGUMENT, naming axis and type, where the type does not have that axis.
Status check_batch_axis(const WriteOptions& options, const ir::TensorType& type);

// One execution of a defined program.
struct Run {
  ProgramId program = 0;
  std::vector<TensorId> inputs;        // one per program input; donated ones are gone afterwards
  TensorId first_output = 0;           // outputs are named first_output, first_output + 1, ...
  std::vector<std::uint64_t> scalars;  // bits as in ir::Constant: a double's for floats, an int64's for the rest
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;  // in blocks of four numbers; ops add their own
  std::vector<TensorId> release;    // further tensors to drop once the run is done
  TraceContext trace = {};          // the caller's span, of a run that is traced
  friend bool operator==(const Run&, const Run&) = default;
};

// What the other side is and what it bears.
struct SessionInfo {
  std::string server;                // "burn-server 0.1.0"
  std::string session;               // an opaque name for logs
  std::vector<std::string> devices;  // all that are there: "cpu", "cuda:0"
  std::uint64_t max_tensor_bytes = 0;
  std::uint64_t max_in_flight = 0;        // ordered messages that may be unacknowledged
  std::uint64_t bulk_credit = 0;          // bytes of upload chunks that may be under way
  std::uint64_t max_programs = 0;         // known at a time; 0: it does not say
  std::uint64_t max_program_entries = 0;  // ir::num_entries of all of them; 0: it does not say
  std::string instance = {};              // 16 random bytes that no other server has; empty: it does not say
  std::uint64_t numerics = 0;             // equal where devices compute the same bits; 0: it does not say
  std::string role = {};                  // "worker" or "router"; empty: it does not say
  friend bool operator==(const SessionInfo&, const SessionInfo&) = default;
};

// How calls reach the owner of the tensors, as far as is known: what a client waits, hashes and paces by.
struct SessionTraits {
  bool is_remote = false;      // in another process: bytes that it has already are not worth sending again
  bool shares_memory = false;  // bytes reach it through memory of this host: that is cheaper than to hash many of them
  bool spares_cores = false;   // what computes needs no core of this process: a thread that waits may keep its own
  // From a call to its answer, if nothing waits; nothing: it is not known yet.
  std::optional<std::chrono::nanoseconds> round_trip = std::chrono::nanoseconds{0};
};

// What is used of a device: by one session, or by all of them.
struct Usage {
  std::uint64_t memory_in_use = 0;    // bytes of tensors, and of what runs take beside them
  std::uint64_t memory_peak = 0;      // the highest of it so far
  std::uint64_t memory_reserved = 0;  // of a session with its host_bytes; of a device what it has taken from the system
  std::uint64_t memory_limit = 0;     // beyond which calls fail with RESOURCE_EXHAUSTED
  std::uint64_t host_bytes = 0;       // of calls that wait, programs with their plans, and tables
  std::uint64_t runs = 0;             // so far
  // Spent on compiling and running programs so far. Of a device the sum over its sessions, which may work at the same
  // time. Where the device works by itself (a GPU), what it takes to hand the work to it.
  double busy_seconds = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

// A worker of a router, as the router sees it.
struct MemberStats {
  std::string name;  // of SessionInfo::devices
  std::string url;
  double weight = 1;           // of its share in what is split
  std::string lost = {};       // why there is no connection to it; empty: there is one
  std::uint64_t sessions = 0;  // of the router's clients that use it now
  Usage device = {};           // by all sessions of the worker, as last reported
  friend bool operator==(const MemberStats&, const MemberStats&) = default;
};

struct SessionStats {
  Usage session, device;
  std::uint64_t programs = 0;             // that the session has defined so far
  std::uint64_t queued = 0;               // calls of the session that wait for their turn
  std::vector<MemberStats> members = {};  // in a session on a router's device "status"; else none
  friend bool operator==(const SessionStats&, const SessionStats&) = default;
};

// A place in a group of sessions, which perform collectives together (ir/ops/collectives.h).
struct GroupPlace {
  std::uint32_t group = 0;  // its number in programs: `group` of a collective
  std::uint64_t epoch = 0;  // of the coordinator, which forms the groups; a session believes the highest
  std::uint32_t rank = 0, size = 1;
  std::string ticket;  // kTicketBytes random bytes, which the members of the group share and nothing else knows
  friend bool operator==(const GroupPlace&, const GroupPlace&) = default;
};
inline constexpr std::size_t kTicketBytes = 16;
inline constexpr std::size_t kMaxAddressBytes = 256;  // of a member, as prepare_group() tells it
inline constexpr std::size_t kMaxGroupMembers = ir::kMaxMembers;
inline constexpr std::chrono::minutes kMaxGroupDeadline{10};  // of open_group()

// A conversation with the owner of tensors.
//
// Calls are asynchronous, take effect in the order they are made, and may come from any thread. A Status that is not ok
// says that the session is broken (the peer went away) and everything fails from then on, or that this call was refused
// and had no effect. A step of a run that fails poisons the outputs that are computed from it, and no others; a run
// that is refused, or whose program was, poisons all of its own. A read of one of them, or of a value computed from it,
// gets the first cause. Callbacks come from threads of the session and must not block or call back into it with
// anything but new asynchronous calls; each is called exactly once, at the latest by close().
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

  // May wait for a peer that has not answered yet; of one that never does it is empty, and health() says why.
  virtual const SessionInfo& info() const = 0;
  virtual const SessionInfo* known_info() const { return &info(); }  // null before; does not wait
  // May change until known_info() is there, and with a new connection. Waits for nothing; thread-safe.
  virtual SessionTraits traits() const { return {}; }
  // Ok until the session is broken or closed, then why. Says what is known now, without asking the peer; thread-safe.
  virtual Status health() const { return {}; }
  // When the peer ends the session, where it has announced that (it drains, and takes no new sessions); nothing: it has
  // announced nothing so far. From the first call on the peer tells this client what it announces, and gives it time
  // until then; one of an older version does neither. Waits for nothing; thread-safe.
  virtual std::optional<std::chrono::steady_clock::time_point> announced_end() { return std::nullopt; }

  // Makes `program` known under `id`; what the id stood for before is forgotten, even if the program is refused, and so
  // are the programs `forget`.
  virtual Status define(ProgramId id, std::shared_ptr<const ir::Program> program, std::vector<ProgramId> forget) = 0;
  virtual Status run(Run run) = 0;
  // May block while more data is under way than the peer takes. Options that do not fit the tensor fail the write.
  virtual Status write(TensorId id, HostTensor tensor, WriteOptions options = {}) = 0;
  virtual Status release(std::vector<TensorId> ids) = 0;
  virtual void read(TensorId id, ReadCallback done) = 0;
  // Done when everything before it is; its status is the first failure since the last sync that no read has reported.
  virtual void sync(SyncCallback done) = 0;
  // What the session and its device use. Beside the order of the calls: answered at once, whatever waits.
  // Errors: UNIMPLEMENTED of a session that does not know, and of a peer that is too old to.
  virtual void stats(const StatsCallback& done);

  // Groups. These calls are beside the order, too: a session whose run waits for the other members hears them. A call
  // that is made again with the same arguments has no further effect.
  // Makes the session listen for the other members of a group; `done` is told the address (opaque bytes) at which they
  // reach it. A new epoch ends the session's groups of older ones.
  // Errors: INVALID_ARGUMENT for a place that cannot be; FAILED_PRECONDITION for an epoch that is over, or another
  // place in this one; RESOURCE_EXHAUSTED; UNIMPLEMENTED of a session that forms no groups.
  virtual void prepare_group(const GroupPlace& place, const AddressCallback& done);
  // Connects to the other members; `addresses` by rank, as they were told. Done when all members are connected: from
  // then on runs may have collectives of the group. Asked again, it says whether the group still stands.
  // Errors: those of prepare_group(); FAILED_PRECONDITION without it; UNAVAILABLE for a member that cannot be reached;
  // DEADLINE_EXCEEDED, naming the members that are missing; why the group was aborted meanwhile.
  virtual void open_group(const GroupPlace& place, std::vector<std::string> addresses,
                          std::chrono::milliseconds deadline, const SyncCallback& done);
  // Ends the group: what waits in one of its collectives fails for this reason at once, and so do later ones. Nothing
  // is done where the session has no such group of that epoch.
  virtual void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why);

  // Calls between the two belong together and may be passed on together. Thread-safe; bursts may overlap. See Burst.
  virtual void begin_burst() {}
  virtual void end_burst() {}
  // Ends the conversation; waits for callbacks to finish. Idempotent. The destructor calls it.
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
