// What is said on the wire, as plain values. proto/codec.h turns a Frame into bytes (burn.v1, proto/burn.proto) and
// back.
//
// Client frames that change or read state are ordered and numbered (seq, from 1); the server acknowledges them
// cumulatively. Large data travels beside them in chunks, on a lane that control frames overtake: a Write announces the
// tensor in order, its chunks follow when there is credit, and whatever needs the tensor waits on the worker.
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
                                              << 20;          // no frame is larger; checked before it is believed
inline constexpr std::size_t kMaxIds = std::size_t{1} << 16;  // in one list of a frame: inputs, scalars, releases
inline constexpr std::size_t kMaxHelloBytes = std::size_t{64} << 10;  // nor is any before the session is there
inline constexpr std::size_t kSecretBytes = 16;                       // of a session with a lease
// A client that wants its session kept confirms at least so often.
inline constexpr std::uint64_t kConfirmAnswers = 64;
inline constexpr std::uint64_t kConfirmBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kInitialCredit = std::uint64_t{8}
                                                << 20;  // bulk bytes a client may have under way unasked

// --- from the client -------------------------------------------------------------------------------------------------

// A session goes on: which, and what of it has come to the client.
struct Resume {
  std::string session;
  std::string secret;
  std::uint64_t answers = 0;    // Data and Done
  std::uint64_t downloads = 0;  // in full
  std::uint64_t offset = 0;     // bytes of the next download
  friend bool operator==(const Resume&, const Resume&) = default;
};

struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t fingerprint = 0;      // ir::op_set_fingerprint()
  std::string client;                 // "burn-cpp 0.1.0", for logs
  std::string token;                  // of the client; empty: it has none
  std::uint32_t device = 0;           // which of the worker's devices is meant, as Welcome lists them
  std::uint32_t lease_seconds = 0;    // how long the session should outlive a connection at most
  std::optional<Resume> resume = {};  // not a new session
  std::string device_name = {};       // the device by name; empty: by number
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct DefineProgram {
  ProgramId id = 0;
  std::shared_ptr<const ir::Program> program;  // null where `invalid` says why
  std::vector<ProgramId> forget = {};          // these are not known any more
  // Of decoded frames only: a program that this build does not understand (a newer op) or that makes no sense. Its runs
  // fail.
  Status invalid = {};
  std::size_t output_count = 0;  // of an invalid program: how many outputs its runs would have
  // The program as it is on the wire, instead of `program`: of frames decoded with Programs::later, for read_program();
  // of frames to be encoded, where it came so.
  SharedBytes encoded = {};
};

struct RunProgram {
  Run run;
  friend bool operator==(const RunProgram&, const RunProgram&) = default;
};

// Announces tensor `id`. The payload holds all of it, or nothing: then Chunks follow.
struct Write {
  TensorId id = 0;
  ir::TensorType type;
  WriteOptions options = {};
  friend bool operator==(const Write&, const Write&) = default;
};

// A part of an announced tensor in either direction: `key` is the tensor id (upload) or the request (download). Parts
// of one tensor come in order and without gaps; a payload has 1 to kChunkBytes bytes.
struct Chunk {
  std::uint64_t key = 0;
  std::uint64_t offset = 0;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct Read {
  std::uint64_t request = 0;
  TensorId id = 0;
  std::uint64_t answers = 0;  // that have come so far
  friend bool operator==(const Read&, const Read&) = default;
};

struct Release {
  std::vector<TensorId> ids;
  friend bool operator==(const Release&, const Release&) = default;
};

struct Sync {
  std::uint64_t request = 0;
  std::uint64_t answers = 0;  // that have come so far
  friend bool operator==(const Sync&, const Sync&) = default;
};

// What is used; answered by a StatsReport, beside the queue.
struct Stats {
  std::uint64_t request = 0;
  friend bool operator==(const Stats&, const Stats&) = default;
};

// Groups of sessions, beside the queue: Session::prepare_group() and so on. PrepareGroup is answered by a GroupAddress,
// the others by a GroupDone.
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

// The client wants to be told by Notice what the server announces; beside the queue.
struct TakeNotices {
  friend bool operator==(const TakeNotices&, const TakeNotices&) = default;
};

// The sender of the Chunks may have this many more bytes under way. Both directions.
struct Credit {
  std::uint64_t bytes = 0;
  std::uint64_t answers = 0, downloads = 0;  // from the client: that have come so far
  friend bool operator==(const Credit&, const Credit&) = default;
};

// The end, said by either side; nothing follows. `status` says why (ok: done).
struct Close {
  Status status;
  bool elsewhere = false;  // before a welcome: another server of the same name may take the session
  friend bool operator==(const Close&, const Close&) = default;
};

// --- from the server -------------------------------------------------------------------------------------------------

// What of a session has come to the server.
struct Resumed {
  std::uint64_t received = 0;  // ordered frames
  std::uint64_t executed = 0;
  std::vector<Chunk> uploads;  // the bytes there are of each that is not whole
  friend bool operator==(const Resumed&, const Resumed&) = default;
};

struct Welcome {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t fingerprint = 0;
  SessionInfo info;
  std::uint32_t lease_seconds = 0;  // how long the session outlives a connection
  std::string secret = {};          // to resume it with
  std::optional<Resumed> resumed = {};
  std::uint64_t extensions = 0;  // bit k: the server takes the verb with field number k (kExtensions of proto/verbs.h)
  std::vector<std::string> advertised = {};  // URLs of this very server, one of each scheme
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

// Every ordered frame up to `seq` is executed.
struct Ack {
  std::uint64_t seq = 0;
  friend bool operator==(const Ack&, const Ack&) = default;
};

// The answer to a Read. The payload holds all of it, or nothing: then Chunks follow.
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

// The answer to Stats; `status`: why there are no numbers.
struct StatsReport {
  std::uint64_t request = 0;
  Status status;
  SessionStats stats;
  friend bool operator==(const StatsReport&, const StatsReport&) = default;
};

// Where a member is reached; `status`: why nowhere.
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

// What the server announces to clients that take notices.
struct Notice {
  enum class Kind : std::uint32_t { none = 0, draining = 1 };  // a newer server may say others, which are ignored
  Kind kind = Kind::none;
  std::chrono::milliseconds left{0};  // until the server ends the session
  friend bool operator==(const Notice&, const Notice&) = default;
};

namespace verb {
struct None {};
template <typename First, typename... Kinds>
using Variant = std::variant<Kinds...>;  // the first is there for the commas of the list
}  // namespace verb

// One of each verb, in the order of proto/verbs.def.
using Body = verb::Variant<verb::None
#define BURN_VERB(Body, ...) , Body
#include "proto/verbs.def"
#undef BURN_VERB
                           >;

struct Frame {
  std::uint64_t seq = 0;  // of ordered client frames; 0 for the others
  Body body;
  SharedBytes payload;  // of Write, Chunk and Data
};

// Whether a client frame is numbered: it takes its turn in the session's order.
bool is_ordered(const Body& body);
// "run", "write", ...: for errors, logs and metrics.
std::string_view name(const Body& body);

}  // namespace burn::proto
