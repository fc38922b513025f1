#include "net/transport/grpc_bytes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "base/fork.h"
#include "base/heap.h"
#include "proto/channel_batch.h"

namespace burn::net {

namespace {

constexpr int kPieceBytes = 1 << 20;  // HTTP/2 splits messages into pieces, by default of 16 KiB

// By default all threads that wait inside gRPC share one epoll set, and a thread that gets another's event wakes that
// thread: several more thread switches for each message. With poll each thread waits for its own connections.
void use_poll_strategy() {
  (void)::setenv("GRPC_POLL_STRATEGY", "poll", 0);  // NOLINT(concurrency-mt-unsafe); 0: keeps the user's choice
}

// gRPC would write a line to stderr for each failed TLS handshake, which any peer can cause.
void silence_log() {
  (void)::setenv("GRPC_VERBOSITY", "NONE", 0);  // NOLINT(concurrency-mt-unsafe); 0: keeps the user's choice
}

}  // namespace

Status keep_grpc_running() {
  // Messages are read into blocks of up to 4 MiB that gRPC frees at once: faulting their pages in again costs twice
  // what moving the bytes does.
  static const std::uint32_t since =
      (install_fork_handlers(), keep_freed_blocks(), use_poll_strategy(), silence_log(), grpc_init(), fork_count());
  if (since == fork_count()) return {};
  return failed_precondition(
      "gRPC cannot be used in a process made by fork() from one that uses it; ws:// and unix: can, and so can gRPC "
      "where it is first used after the fork()");
}

void tune_grpc(const std::function<void(const char* name, int value)>& set) {
  set(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kPieceBytes);
  set(GRPC_ARG_HTTP2_WRITE_BUFFER_SIZE, kPieceBytes);
  set(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, static_cast<int>(proto::kInitialCredit));
  // The above is a stream's window. The connection's window begins with 64 KiB, which on a distant connection is one
  // batch per round trip; only the probe widens it.
  set(GRPC_ARG_HTTP2_BDP_PROBE, 1);
}

namespace {

constexpr std::byte kFramesTag{3 << 3 | 2};
constexpr std::size_t kMinAlone = std::size_t{16} << 10;  // larger frames get a message of their own
constexpr std::size_t kMaxTogether = std::size_t{64} << 10;
constexpr std::size_t kMaxMessage = 2 * kMaxTogether;  // of several frames; this limits their number, too

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::optional<std::uint64_t> read_varint(std::span<const std::byte> bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

void append(std::string& out, const proto::EncodedFrame& frame) {
  out += frame.header;
  out.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
}

void to_byte_buffer(const proto::EncodedFrame& frame, grpc::ByteBuffer* buffer) {
  const grpc::Slice header{frame.header};
  if (frame.payload.empty()) {
    *buffer = grpc::ByteBuffer{&header, 1};
    return;
  }
  auto* owner = new SharedBytes(frame.payload);
  const auto release = [](void* bytes) { delete static_cast<SharedBytes*>(bytes); };
  void* data = const_cast<std::byte*>(owner->data());  // gRPC only reads it
  const std::array<grpc::Slice, 2> slices = {header, grpc::Slice{data, owner->size(), release, owner}};
  *buffer = grpc::ByteBuffer{slices.data(), slices.size()};
}

}  // namespace

GrpcPacker::Next GrpcPacker::pack(SendQueue& queue, grpc::ByteBuffer* buffer) {
  std::optional<proto::EncodedFrame> first = std::exchange(left_, std::nullopt);
  if (!first) {
    SendQueue::Next next = queue.next();
    if (next.finished) return Next::finished;
    if (!next.frame) return Next::nothing;
    first = std::move(next.frame);
  }
  std::string together;
  const auto add = [&](const proto::EncodedFrame& frame) {
    together += static_cast<char>(kFramesTag);
    append_varint(together, frame.size());
    append(together, frame);
  };
  while (first->size() < kMinAlone && together.size() < kMaxTogether) {
    SendQueue::Next next = queue.next(true);
    if (!next.frame) break;
    if (next.frame->size() >= kMinAlone) {
      left_ = std::move(next.frame);
      break;
    }
    if (together.empty()) add(*first);
    add(*next.frame);
  }
  if (together.empty()) {
    to_byte_buffer(*first, buffer);
  } else {
    const grpc::Slice slice{together};
    *buffer = grpc::ByteBuffer{&slice, 1};
  }
  return Next::message;
}

Result<std::vector<SharedBytes>> unpack(const SharedBytes& message) {
  const auto bytes = message.span();
  if (bytes.empty() || bytes[0] != kFramesTag) return std::vector{message};
  if (bytes.size() > kMaxMessage) return invalid_argument("too much in one message of several frames");
  std::vector<SharedBytes> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at++] != kFramesTag) return invalid_argument("a message of several frames has something else in it");
    const auto length = read_varint(bytes, at);
    if (!length || *length > bytes.size() - at) return invalid_argument("a frame within a message is cut short");
    frames.push_back(message.slice(at, *length));
    at += *length;
  }
  return frames;
}

namespace {

constexpr std::size_t kMinInPlaceBytes = std::size_t{32} << 10;

Result<SharedBytes> to_shared_bytes(grpc::ByteBuffer* buffer) {
  auto slice = std::make_shared<grpc::Slice>();
  if (!buffer->TrySingleSlice(slice.get()).ok()) {  // the buffer has several parts
    if (const auto copied = buffer->DumpToSingleSlice(slice.get()); !copied.ok())
      return data_loss("a message that gRPC does not give out: " + copied.error_message());
  }
  buffer->Clear();
  const std::span bytes{reinterpret_cast<const std::byte*>(slice->begin()), slice->size()};
  return SharedBytes{std::move(slice), bytes};
}

// Copies the message from byte `skip` on, to.size() bytes of it.
void copy_out(const std::vector<grpc::Slice>& slices, std::size_t skip, std::span<std::byte> to) {
  for (const grpc::Slice& slice : slices) {
    const std::size_t from = std::min(skip, slice.size());
    const std::size_t count = std::min(slice.size() - from, to.size());
    if (count > 0) std::memcpy(to.data(), slice.begin() + from, count);
    to = to.subspan(count);
    skip -= from;
  }
}

bool deliver_in_place(grpc::ByteBuffer* buffer, HandlerGate& gate) {
  const std::size_t size = buffer->Length();
  std::vector<grpc::Slice> slices;
  if (size < kMinInPlaceBytes || !buffer->Dump(&slices).ok()) return false;
  std::vector<std::byte> head(proto::kMaxChunkHead);
  copy_out(slices, 0, head);
  proto::ReceiveSpace rest = gate.receive_space(head, size);
  if (rest.begin == 0 || rest.begin > head.size() || rest.bytes.size() != size - rest.begin) return false;
  copy_out(slices, rest.begin, rest.bytes);
  buffer->Clear();
  head.resize(rest.begin);
  gate.frame_in_place(SharedBytes::own(std::move(head)), SharedBytes{std::move(rest.owner), rest.bytes});
  return true;
}

}  // namespace

Status deliver(grpc::ByteBuffer* buffer, HandlerGate& gate) {
  if (deliver_in_place(buffer, gate)) return {};
  BURN_TRY(const SharedBytes message, to_shared_bytes(buffer));
  BURN_TRY(auto frames, unpack(message));
  const proto::ChannelBatch batch;
  for (SharedBytes& frame : frames) gate.frame(std::move(frame));
  return {};
}

}  // namespace burn::net
