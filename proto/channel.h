// A channel of frames between two processes, which each transport (WebSocket, gRPC) implements at both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "proto/codec.h"

namespace burn::proto {

// Frames of the control lane overtake waiting frames of the bulk lane; within a lane the order is kept.
enum class Lane { control, bulk };

// Memory to receive the rest of a frame in.
struct ReceiveSpace {
  std::size_t begin = 0;  // bytes of the frame before it; 0: no space
  std::shared_ptr<const void> owner;
  std::span<std::byte> bytes;  // for the rest of the frame
};

// What a transport knows about the peer, in addition to its address.
struct PeerSecurity {
  bool is_encrypted = false;  // by TLS
  // Names in the peer's verified certificate: "uri:burn://tenant/vision", "dns:a.lab", "ip:10.0.0.1", "email:a@b",
  // "cn:alice", and "sha256:HEX" of the whole certificate. Empty: it has no certificate.
  std::vector<std::string> names;
};

// Receives the frames of a channel. Called by one thread of the transport at a time; must not block.
class ChannelHandler {
 public:
  virtual ~ChannelHandler() = default;
  // The first frame that this side sends, if it does not depend on the peer. A transport that can send it while
  // connecting calls this, from any thread, and sends it before all other frames, which saves a round trip. Otherwise
  // it is sent like any other frame. The connection may still fail after the call.
  virtual std::optional<EncodedFrame> greeting() { return std::nullopt; }
  virtual void on_frame(SharedBytes frame) = 0;
  // The largest frame allowed now; a transport that knows a frame's size in advance refuses larger ones without reading
  // them.
  virtual std::size_t max_frame_bytes() const { return kMaxFrameBytes; }
  // For a large frame of `size` bytes that begins with `head`: memory for the rest of it. Without any, on_frame() gets
  // the whole frame.
  virtual ReceiveSpace receive_space(std::span<const std::byte> /*head*/, std::uint64_t /*size*/) { return {}; }
  // Receives the frame for which receive_space() last returned memory: its beginning, and the rest in that memory.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void on_frame_in_place(SharedBytes /*head*/, SharedBytes /*rest*/) {}
  // The last call, made exactly once: the peer closed (ok), the connection was lost, or the peer broke the transport's
  // rules.
  virtual void on_closed(Status why) = 0;
};

// Thread-safe. Destroying a channel closes it; after the destructor no handler call is running or follows.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  // Queues a frame and returns. Frames sent after close() are dropped.
  virtual void send(EncodedFrame frame, Lane lane) = 0;
  // Frames sent between the two may be held back and sent together. Call flush() before waiting in between.
  virtual void begin_burst() {}
  virtual void end_burst() {}
  virtual void flush() {}
  // Sends what is queued, then closes; on_closed follows.
  virtual void close() = 0;
  // Bytes queued and not yet handed to the kernel.
  virtual std::size_t queued_bytes() const = 0;
  virtual std::string peer() const = 0;  // "127.0.0.1:40312", for logs
  virtual PeerSecurity peer_security() const { return {}; }
  // Whether bytes are passed in memory shared by both ends: sending them then costs little more than reading them.
  virtual bool is_shared_memory() const { return false; }
};

// Scoped begin_burst() and end_burst().
class ChannelBurst {
 public:
  explicit ChannelBurst(Channel& channel) : channel_(channel) { channel_.begin_burst(); }
  ~ChannelBurst() { channel_.end_burst(); }
  ChannelBurst(const ChannelBurst&) = delete;
  ChannelBurst& operator=(const ChannelBurst&) = delete;

 private:
  Channel& channel_;
};

}  // namespace burn::proto
