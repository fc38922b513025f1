#include "daemon/metered_acceptor.h"

#include <optional>
#include <string>
#include <utility>

namespace burn::daemon {
namespace {

class MeteredChannel final : public proto::Channel {
 public:
  MeteredChannel(std::shared_ptr<proto::Channel> channel, std::shared_ptr<ByteCounts> counts)
      : channel_(std::move(channel)), counts_(std::move(counts)) {}

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    counts_->sent.fetch_add(frame.size(), std::memory_order_relaxed);
    channel_->send(std::move(frame), lane);
  }
  void begin_burst() override { channel_->begin_burst(); }
  void end_burst() override { channel_->end_burst(); }
  void flush() override { channel_->flush(); }
  void close() override { channel_->close(); }
  std::size_t queued_bytes() const override { return channel_->queued_bytes(); }
  std::string peer() const override { return channel_->peer(); }
  proto::PeerSecurity peer_security() const override { return channel_->peer_security(); }
  bool is_shared_memory() const override { return channel_->is_shared_memory(); }

 private:
  const std::shared_ptr<proto::Channel> channel_;
  const std::shared_ptr<ByteCounts> counts_;
};

class MeteredHandler final : public proto::ChannelHandler {
 public:
  MeteredHandler(std::shared_ptr<proto::ChannelHandler> handler, std::shared_ptr<ByteCounts> counts)
      : handler_(std::move(handler)), counts_(std::move(counts)) {}

  std::optional<proto::EncodedFrame> greeting() override { return handler_->greeting(); }
  void on_frame(SharedBytes frame) override {
    count(frame.size());
    handler_->on_frame(std::move(frame));
  }
  std::size_t max_frame_bytes() const override { return handler_->max_frame_bytes(); }
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override {
    return handler_->receive_space(head, size);
  }
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override {
    count(head.size() + rest.size());
    handler_->on_frame_in_place(std::move(head), std::move(rest));
  }
  void on_closed(Status why) override { handler_->on_closed(std::move(why)); }

 private:
  void count(std::size_t bytes) { counts_->received.fetch_add(bytes, std::memory_order_relaxed); }

  const std::shared_ptr<proto::ChannelHandler> handler_;
  const std::shared_ptr<ByteCounts> counts_;
};

std::shared_ptr<proto::ChannelHandler> metered(std::shared_ptr<proto::ChannelHandler> handler,
                                               const std::shared_ptr<ByteCounts>& counts) {
  return handler ? std::make_shared<MeteredHandler>(std::move(handler), counts) : nullptr;
}

}  // namespace

std::shared_ptr<proto::ChannelHandler> MeteredAcceptor::accept(std::shared_ptr<proto::Channel> channel) {
  return metered(next_.accept(std::make_shared<MeteredChannel>(std::move(channel), counts_)), counts_);
}

std::shared_ptr<proto::ChannelHandler> MeteredAcceptor::accept_returning(std::shared_ptr<proto::Channel> channel,
                                                                         const Status& full) {
  return metered(next_.accept_returning(std::make_shared<MeteredChannel>(std::move(channel), counts_), full), counts_);
}

}  // namespace burn::daemon
