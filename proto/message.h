// The messages of the protocol (burn.v1, proto/burn.proto) as plain structs. proto/codec.h encodes and decodes a Frame.
//
// Client frames that change or read state are ordered and numbered (seq, from 1); the server acknowledges them
// cumulatively. Large data is sent separately in chunks, on a lane that control frames overtake: a Write announces the
// tensor in order, its chunks follow when there is credit, and calls that need the tensor wait on the worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::proto {

inline constexpr std::uint32_t kProtocolVersion = 2;
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // payload of a bulk frame
inline constexpr std::size_t kInlineBytes = std::size_t{64}
                                            << 10;  // tensors up to this travel inside their Write / Data
inline constexpr std::size_t kMaxFrameBytes = std::size_t{64}
                                              << 20;          // no frame is larger; checked before the frame is read
inline constexpr std::size_t kMaxIds = std::size_t{1} << 16;  // in one list of a frame: inputs, scalars, releases
inline constexpr std::size_t kMaxHelloBytes = std::size_t{64} << 10;  // limit before there is a session
inline constexpr std::size_t kSecretBytes = 16;                       // of a session with a lease
// A client whose session has a lease confirms received answers at least this often.
inline constexpr std::uint64_t kConfirmAnswers = 64;
inline constexpr std::uint64_t kConfirmBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kInitialCredit = std::uint64_t{8}
                                                << 20;  // bulk bytes a client may have in flight at first

// --- from the client -------------------------------------------------------------------------------------------------

// Resumes a session: which one, and what the client has received.
struct Resume {
  std::string session;
  std::string secret;
  std::uint64_t answers = 0;    // Data and Done frames received
  std::uint64_t downloads = 0;  // received in full
  std::uint64_t offset = 0;     // bytes received of the next download
  friend bool operator==(const Resume&, const Resume&) = default;
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t fingerprint = 0;      // ir::op_set_fingerprint()
  std::string client;                 // "burn-cpp 0.1.0", for logs
  std::string token;                  // of the client; empty: it has none
  std::uint32_t device = 0;           // index in the worker's devices, as Welcome lists them
  std::uint32_t lease_seconds = 0;    // how long the session should outlive its connection at most
  std::optional<Resume> resume = {};  // if set: resume this session instead of opening a new one
  std::string device_name = {};       // the device by name; empty: by number
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct DefineProgram {
  ProgramId id = 0;
  std::shared_ptr<const ir::Program> program;  // null if invalid
  std::vector<ProgramId> forget = {};          // programs to remove
  // Only in decoded frames: why the program is invalid, or not understood by this build (a newer op). Its runs fail.
  Status invalid = {};
  std::size_t output_count = 0;  // outputs of its runs, if the program is invalid
  // The encoded program, instead of `program`: in frames decoded with Programs::later, for read_program(), and in
  // frames to be encoded, to forward such a program.
  SharedBytes encoded = {};
};

struct RunProgram {
  Run run;
  friend bool operator==(const RunProgram&, const RunProgram&) = default;
};

// Announces tensor `id`. The payload is the whole tensor, or empty: then Chunks follow.
struct Write {
  TensorId id = 0;
  ir::TensorType type;
  WriteOptions options = {};
  friend bool operator==(const Write&, const Write&) = default;
};

// A part of an announced tensor in either direction: `key` is the tensor id (upload) or the request (download). Parts
// of one tensor are sent in order and without gaps; a payload has 1 to kChunkBytes bytes.
struct Chunk {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct Read {
  std::uint64_t request = 0;
  TensorId id = 0;
  std::uint64_t answers = 0;  // received so far
  friend bool operator==(const Read&, const Read&) = default;
};

struct Release {
  std::vector<TensorId> ids;
  friend bool operator==(const Release&, const Release&) = default;
};

struct Sync {
  std::uint64_t request = 0;
  std::uint64_t answers = 0;  // received so far
  friend bool operator==(const Sync&, const Sync&) = default;
};

// Asks for resource usage; answered by a StatsReport, outside the queue.
struct Stats {
  std::uint64_t request = 0;
  friend bool operator==(const Stats&, const Stats&) = default;
};

// Groups of sessions, outside the queue: Session::prepare_group() etc. PrepareGroup is answered by a GroupAddress, the
// others by a GroupDone.
struct PrepareGroup {
  std::uint64_t request = 0;
  GroupPlace place;
  friend bool operator==(const PrepareGroup&, const PrepareGroup&) = default;
};

struct OpenGroup {
  std::uint64_t request = 0;
  GroupPlace place;
  std::vector<std::string> addresses;
  std::chrono::milliseconds deadline{0};
  friend bool operator==(const OpenGroup&, const OpenGroup&) = default;
};

struct AbortGroup {
  std::uint64_t request = 0;
  std::uint32_t group = 0;
  std::uint64_t epoch = 0;
  Status why;
  friend bool operator==(const AbortGroup&, const AbortGroup&) = default;
};

// Asks the server to send Notices of its announcements; outside the queue.
struct TakeNotices {
  friend bool operator==(const TakeNotices&, const TakeNotices&) = default;
};

// The sender of Chunks may have this many more bytes in flight. Both directions.
struct Credit {
  std::uint64_t bytes = 0;
  std::uint64_t answers = 0, downloads = 0;  // from the client: received so far
  friend bool operator==(const Credit&, const Credit&) = default;
};

// Ends the session, from either side; no frame follows. `status` is the reason (ok: done).
struct Close {
  Status status;
  bool elsewhere = false;  // before a welcome: another server of the same name may accept the session
  friend bool operator==(const Close&, const Close&) = default;
};

// --- from the server -------------------------------------------------------------------------------------------------

// What the server has received of a resumed session.
struct Resumed {
  std::uint64_t received = 0;  // ordered frames
  std::uint64_t executed = 0;
  std::vector<Chunk> uploads;  // for each incomplete upload, the bytes received
  friend bool operator==(const Resumed&, const Resumed&) = default;
};

struct Welcome {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t fingerprint = 0;
  SessionInfo info;
  std::uint32_t lease_seconds = 0;  // how long the session outlives a connection
  std::string secret = {};          // for resuming it
  std::optional<Resumed> resumed = {};
  std::uint64_t extensions = 0;  // bit k: the server accepts the verb of field k (kExtensions of proto/verbs.h)
  std::vector<std::string> advertised = {};  // URLs of this server process, one of each scheme
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

// Every ordered frame up to `seq` is executed.
struct Ack {
  std::uint64_t seq = 0;
  friend bool operator==(const Ack&, const Ack&) = default;
};

// The answer to a Read. The payload is the whole tensor, or empty: then Chunks follow.
struct Data {
  std::uint64_t request = 0;
  ir::TensorType type;
  friend bool operator==(const Data&, const Data&) = default;
};

// The answer to a Sync, and to a Read that failed.
struct Done {
  std::uint64_t request = 0;
  Status status;
  friend bool operator==(const Done&, const Done&) = default;
};

// The answer to Stats; `status`: why there are no statistics.
struct StatsReport {
  std::uint64_t request = 0;
  Status status;
  SessionStats stats;
  friend bool operator==(const StatsReport&, const StatsReport&) = default;
};

// The address of a member; `status`: why it has none.
struct GroupAddress {
  std::uint64_t request = 0;
  Status status;
  std::string address;
  friend bool operator==(const GroupAddress&, const GroupAddress&) = default;
};

struct GroupDone {
  std::uint64_t request = 0;
  Status status;
  friend bool operator==(const GroupDone&, const GroupDone&) = default;
};

// An announcement, sent to clients that asked with TakeNotices.
struct Notice {
  enum class Kind : std::uint32_t { none = 0, draining = 1 };  // unknown kinds of newer servers are ignored
  Kind kind = Kind::none;
  std::chrono::milliseconds left{0};  // time until the server ends the session
  friend bool operator==(const Notice&, const Notice&) = default;
};

namespace verb {
struct None {};
template <typename First, typename... Kinds>
using Variant = std::variant<Kinds...>;  // First absorbs the leading comma of the list
}  // namespace verb

// One of each verb, in the order of proto/verbs.def.
using Body = verb::Variant<verb::None
#define BURN_VERB(Body, ...) , Body
#include "proto/verbs.def"
#undef BURN_VERB
                           >;

struct Frame {
  std::uint64_t seq = 0;  // only in ordered client frames; otherwise 0
  Body body;
  SharedBytes payload;  // of Write, Chunk and Data
};

// Whether a client frame is ordered: numbered, and executed in the session's order.
bool is_ordered(const Body& body);
// "run", "write", ...: for errors, logs and metrics.
std::string_view name(const Body& body);

}  // namespace burn::proto
