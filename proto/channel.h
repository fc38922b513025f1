// A pipe of frames between two processes: what a transport (WebSocket, gRPC) implements at either end.
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

// Memory into which a part of a frame may be received.
struct ReceiveSpace {
  std::size_t begin = 0;  // bytes of the frame that come before it; 0: there is none
  std::shared_ptr<const void> owner;
  std::span<std::byte> bytes;  // for the rest of the frame
};

// What a transport knows of the other end beside its address.
struct PeerSecurity {
  bool is_encrypted = false;  // by TLS
  // In the certificate that the peer proved to have: "uri:burn://tenant/vision", "dns:a.lab", "ip:10.0.0.1",
  // "email:a@b", "cn:alice", "sha256:HEX" of all of it. Empty: it has shown none.
  std::vector<std::string> names;
};

// Receives the frames of a channel. Calls come one at a time, from a thread of the transport, and must not block.
class ChannelHandler {
 public:
  virtual ~ChannelHandler() = default;
  // What this side says first, if it knows that before it is asked anything. A transport that can say it while it
  // connects asks for it then, from any thread, and sees to it that it comes before all else; so a round trip is saved.
  // One that does not ask leaves it to be sent like everything else. The channel may still not come about.
  virtual std::optional<EncodedFrame> greeting() { return std::nullopt; }
  virtual void on_frame(SharedBytes frame) = 0;
  // What a frame may have at most now; a transport that knows sizes beforehand refuses a larger one unseen.
  virtual std::size_t max_frame_bytes() const { return kMaxFrameBytes; }
  // A large frame of `size` bytes begins with `head`. Where its end should be put, or nowhere: then on_frame gets all
  // of it.
  virtual ReceiveSpace receive_space(std::span<const std::byte> /*head*/, std::uint64_t /*size*/) { return {}; }
  // The frame for which the last receive_space() gave one: its beginning, and that space.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void on_frame_in_place(SharedBytes /*head*/, SharedBytes /*rest*/) {}
  // The last call, exactly once: the peer closed (ok), vanished, or broke the transport's rules.
  virtual void on_closed(Status why) = 0;
};

// Thread-safe. Destroying a channel closes it; no handler call is running or comes after the destructor.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  // Queues a frame and returns. Frames sent after close() are dropped.
  virtual void send(EncodedFrame frame, Lane lane) = 0;
  // Frames sent between the two may wait for each other and leave together. flush() is for a caller that has to wait in
  // between.
  virtual void begin_burst() {}
  virtual void end_burst() {}
  virtual void flush() {}
  // Sends what is queued, then closes; on_closed follows.
  virtual void close() = 0;
  // Bytes queued and not yet handed to the kernel.
  virtual std::size_t queued_bytes() const = 0;
  virtual std::string peer() const = 0;  // "127.0.0.1:40312", for logs
  virtual PeerSecurity peer_security() const { return {}; }
  // Whether bytes go through memory that both ends have: then to send them costs hardly more than to look at them.
  virtual bool is_shared_memory() const { return false; }
};

// From here to the end of the block.
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
