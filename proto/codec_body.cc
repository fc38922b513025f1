#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/arena.h>

#include "proto/burn.pb.h"
#include "proto/codec_groups.h"
#include "proto/codec_hello.h"
#include "proto/codec_internal.h"
#include "proto/codec_stats.h"

namespace burn::proto {
namespace {

using google::protobuf::Arena;
using google::protobuf::MessageLite;
using google::protobuf::RepeatedField;
using proto::from_wire;  // together with the overloads here
using proto::to_wire;

constexpr std::uint32_t kSampled = 1;                                  // of v1::Trace.flags
constexpr std::chrono::milliseconds kMaxLeft{std::uint64_t{1} << 40};  // so that adding it to a time does not overflow

template <typename Message>
Message* make(Arena& arena) {
  return Arena::CreateMessage<Message>(&arena);
}

// --- to the wire -----------------------------------------------------------------------------------------------------

v1::Run* to_wire(const RunProgram& body, Arena& arena) {
  const auto& run = body.run;
  auto* out = make<v1::Run>(arena);
  out->set_program(run.program);
  out->mutable_inputs()->Add(run.inputs.begin(), run.inputs.end());
  out->set_first_output(run.first_output);
  out->mutable_scalars()->Add(run.scalars.begin(), run.scalars.end());
  out->set_seed(run.seed);
  out->set_random_offset(run.random_offset);
  out->mutable_release()->Add(run.release.begin(), run.release.end());
  if (const auto& trace = run.trace; trace.exists()) {
    auto* wire = out->mutable_trace();
    wire->set_trace_high(trace.trace_high);
    wire->set_trace_low(trace.trace_low);
    wire->set_span(trace.span);
    wire->set_flags(trace.is_sampled ? kSampled : 0);
  }
  return out;
}

v1::Write* to_wire(const Write& write, Arena& arena) {
  auto* out = make<v1::Write>(arena);
  out->set_id(write.id);
  proto::to_wire(write.type, out->mutable_type());
  if (const auto axis = write.options.batch_axis) out->set_batch_axis(static_cast<std::uint32_t>(*axis) + 1);
  return out;
}

v1::Chunk* to_wire(const Chunk& chunk, Arena& arena) {
  auto* out = make<v1::Chunk>(arena);
  out->set_key(chunk.key);
  out->set_offset(chunk.offset);
  return out;
}

v1::Read* to_wire(const Read& read, Arena& arena) {
  auto* out = make<v1::Read>(arena);
  out->set_request(read.request);
  out->set_id(read.id);
  out->set_answers(read.answers);
  return out;
}

v1::Release* to_wire(const Release& release, Arena& arena) {
  auto* out = make<v1::Release>(arena);
  out->mutable_ids()->Add(release.ids.begin(), release.ids.end());
  return out;
}

v1::Sync* to_wire(const Sync& sync, Arena& arena) {
  auto* out = make<v1::Sync>(arena);
  out->set_request(sync.request);
  out->set_answers(sync.answers);
  return out;
}

v1::Credit* to_wire(const Credit& credit, Arena& arena) {
  auto* out = make<v1::Credit>(arena);
  out->set_bytes(credit.bytes);
  out->set_answers(credit.answers);
  out->set_downloads(credit.downloads);
  return out;
}

v1::Close* to_wire(const Close& close, Arena& arena) {
  auto* out = make<v1::Close>(arena);
  to_wire(close.status, out->mutable_status());
  out->set_elsewhere(close.elsewhere);
  return out;
}

v1::Ack* to_wire(const Ack& ack, Arena& arena) {
  auto* out = make<v1::Ack>(arena);
  out->set_seq(ack.seq);
  return out;
}

v1::Data* to_wire(const Data& data, Arena& arena) {
  auto* out = make<v1::Data>(arena);
  out->set_request(data.request);
  proto::to_wire(data.type, out->mutable_type());
  return out;
}

v1::Done* to_wire(const Done& done, Arena& arena) {
  auto* out = make<v1::Done>(arena);
  out->set_request(done.request);
  to_wire(done.status, out->mutable_status());
  return out;
}

v1::TakeNotices* to_wire(const TakeNotices& /*ask*/, Arena& arena) { return make<v1::TakeNotices>(arena); }

v1::Notice* to_wire(const Notice& notice, Arena& arena) {
  auto* out = make<v1::Notice>(arena);
  out->set_kind(static_cast<std::uint32_t>(notice.kind));
  out->set_milliseconds(static_cast<std::uint64_t>(std::max<std::int64_t>(notice.left.count(), 0)));
  return out;
}

// --- from the wire ---------------------------------------------------------------------------------------------------

template <typename T>
std::vector<T> to_vector(const RepeatedField<T>& values) {
  return {values.begin(), values.end()};
}

Status check_ids(int count, std::string_view of_what) {
  if (static_cast<std::size_t>(count) <= kMaxIds) return {};
  return invalid_argument(fmt::format("{} {}; at most {} may be in one frame", count, of_what, kMaxIds));
}

Result<Body> from_wire(const v1::Run& run) {
  BURN_RETURN_IF_ERROR(check_ids(run.inputs_size(), "inputs"));
  BURN_RETURN_IF_ERROR(check_ids(run.scalars_size(), "scalars"));
  BURN_RETURN_IF_ERROR(check_ids(run.release_size(), "tensors to release"));
  RunProgram body{Run{run.program(), to_vector(run.inputs()), run.first_output(), to_vector(run.scalars()), run.seed(),
                      run.random_offset(), to_vector(run.release())}};
  if (run.has_trace()) {
    const auto& trace = run.trace();
    const TraceContext context{trace.trace_high(), trace.trace_low(), trace.span(), (trace.flags() & kSampled) != 0};
    if (context.exists()) body.run.trace = context;
  }
  return Body{std::move(body)};
}

Result<Body> from_wire(const v1::Write& write) {
  BURN_TRY(auto type, proto::from_wire(write.type()));
  Write body{write.id(), type};
  // Clamped: no axis is so large. The write checks whether the type has the axis, so that only the write fails.
  if (const auto axis = write.batch_axis(); axis > 0)
    body.options.batch_axis = static_cast<std::int32_t>(std::min<std::uint32_t>(axis, INT32_MAX) - 1);
  return Body{body};
}

Result<Body> from_wire(const v1::Chunk& chunk) { return Body{Chunk{chunk.key(), chunk.offset()}}; }
Result<Body> from_wire(const v1::Read& read) { return Body{Read{read.request(), read.id(), read.answers()}}; }
Result<Body> from_wire(const v1::Release& release) {
  BURN_RETURN_IF_ERROR(check_ids(release.ids_size(), "tensors to release"));
  return Body{Release{to_vector(release.ids())}};
}
Result<Body> from_wire(const v1::Sync& sync) { return Body{Sync{sync.request(), sync.answers()}}; }
Result<Body> from_wire(const v1::Credit& credit) {
  return Body{Credit{credit.bytes(), credit.answers(), credit.downloads()}};
}
Result<Body> from_wire(const v1::Close& close) { return Body{Close{from_wire(close.status()), close.elsewhere()}}; }

Result<Body> from_wire(const v1::Ack& ack) { return Body{Ack{ack.seq()}}; }

Result<Body> from_wire(const v1::Data& data) {
  BURN_TRY(auto type, proto::from_wire(data.type()));
  return Body{Data{data.request(), type}};
}

Result<Body> from_wire(const v1::Done& done) { return Body{Done{done.request(), from_wire(done.status())}}; }

Result<Body> from_wire(const v1::TakeNotices& /*ask*/) { return Body{TakeNotices{}}; }

Result<Body> from_wire(const v1::Notice& notice) {
  const auto left = std::min<std::uint64_t>(notice.milliseconds(), kMaxLeft.count());
  return Body{Notice{static_cast<Notice::Kind>(notice.kind()), std::chrono::milliseconds{left}}};
}

// Not used: read_define() decodes it.
Result<Body> from_wire(const v1::DefineProgram& /*define*/) {
  return unimplemented("a define is read by read_define()");
}

template <typename Message>
Result<Body> read_as(std::string_view bytes) {
  alignas(8) char first[kArenaBytes];
  Arena arena{first, sizeof(first)};
  auto* message = make<Message>(arena);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_argument("it is malformed");
  return from_wire(*message);
}

}  // namespace

const MessageLite* make_body(const Body& body, Arena& arena) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> const MessageLite* {
        if constexpr (std::is_same_v<Kind, DefineProgram>)
          return nullptr;
        else
          return to_wire(kind, arena);
      },
      body);
}

Status too_large(std::size_t bytes, std::size_t limit) {
  return invalid_argument(fmt::format("it has {} bytes, at most {} may be", bytes, limit));
}

Result<Body> read_body(int field, std::string_view bytes) {
  switch (field) {
#define BURN_VERB(Body, Message, name, field, ...) \
  case field:                                      \
    return read_as<v1::Message>(bytes);
#include "proto/verbs.def"
#undef BURN_VERB
  }
  return unimplemented(fmt::format("a frame of kind {} is not known here", field));
}

}  // namespace burn::proto
