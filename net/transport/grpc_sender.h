// Shared by both ends of a gRPC call: the queue of frames to be sent, and the channel that fills it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "net/transport/grpc_bytes.h"
#include "net/transport/grpc_loop.h"
#include "net/transport/pump_lock.h"
#include "net/transport/send_queue.h"
#include "proto/channel.h"

namespace burn::net {

// The public part is thread-safe.
class GrpcSender {
 public:
  void send(proto::EncodedFrame frame, proto::Lane lane) {
    if (queue_.push(std::move(frame), lane)) pump();
  }
  void begin_burst() { queue_.begin_burst(); }
  void end_burst() {
    if (queue_.end_burst()) pump();
  }
  void flush() {
    if (queue_.flush()) pump();
  }
  void close() {
    if (queue_.close()) pump();
  }
  std::size_t queued_bytes() const { return queue_.bytes(); }

 protected:
  explicit GrpcSender(GrpcLoop& loop) : loop_(loop) {}
  ~GrpcSender() = default;

  // Starts writing the next message, if the stream is ready for it. Called with the lock.
  virtual void write_next() = 0;
  void pump() {
    loop_.start([this] { lock_.pump(); });
  }

  SendQueue queue_;
  GrpcPacker packer_;
  PumpLock lock_{[this] { write_next(); }};  // held while operations are started

 private:
  GrpcLoop& loop_;
};

// `Stream`: a GrpcSender with peer(), peer_security() and detach().
template <typename Stream>
class GrpcChannel final : public proto::Channel {
 public:
  explicit GrpcChannel(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ~GrpcChannel() override { stream_->detach(); }

  void send(proto::EncodedFrame frame, proto::Lane lane) override { stream_->send(std::move(frame), lane); }
  void begin_burst() override { stream_->begin_burst(); }
  void end_burst() override { stream_->end_burst(); }
  void flush() override { stream_->flush(); }
  void close() override { stream_->close(); }
  std::size_t queued_bytes() const override { return stream_->queued_bytes(); }
  std::string peer() const override { return stream_->peer(); }
  proto::PeerSecurity peer_security() const override { return stream_->peer_security(); }

 private:
  const std::shared_ptr<Stream> stream_;
};

}  // namespace burn::net
