// From bytes as they come off a socket to WebSocket messages. A large message is read straight into the memory in which
// it is handed over.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "net/transport/ws_frame.h"
#include "proto/channel.h"

namespace burn::net::ws {

// Not thread-safe.
class Inbox {
 public:
  // Asked about every large message: where the bytes after its beginning go. (ChannelHandler::receive_space)
  using FindSpace = std::function<proto::ReceiveSpace(std::span<const std::byte> head, std::uint64_t size)>;

  Inbox(Role from, std::size_t max_message_bytes, FindSpace find_space = {})
      : from_(from), max_message_bytes_(max_message_bytes), find_space_(std::move(find_space)), buffer_(kBufferBytes) {}

  // Where the next bytes go; the second part only when the first is full, and either may be empty.
  std::array<std::span<std::byte>, 2> space();
  // `count` bytes were put there.
  void advance(std::size_t count);

  std::size_t max_message_bytes() const { return max_message_bytes_; }
  // For messages that have not begun.
  void set_max_message_bytes(std::size_t bytes) { max_message_bytes_ = bytes; }

  // Before the first frame: the bytes so far, and forgetting the first of them.
  std::string_view text() const;
  void skip(std::size_t count) { begin_ += count; }
  bool is_full() const { return end_ == buffer_.size() && begin_ == 0; }
  // A message, or a frame of one, has begun and is not whole.
  bool is_within_message() const { return message_.open || frame_ || begin_ < end_; }

  struct Event {
    Opcode opcode = Opcode::binary;  // binary: a whole message; else close, ping or pong
    SharedBytes content;
    SharedBytes rest;  // of a message received in place: what is in its space, the content being what comes before it
  };
  // What has arrived in full, one after the other; then nothing until more bytes come.
  // Errors, the end of the connection: INVALID_ARGUMENT for broken framing, UNIMPLEMENTED for text, RESOURCE_EXHAUSTED
  // for a message beyond the limit.
  Result<std::optional<Event>> next();

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{16} << 10;  // headers and small messages
  static constexpr std::size_t kHeadBytes = 64;                       // of a message, to say where its rest goes
  static constexpr std::size_t kMinInPlaceBytes = std::size_t{32} << 10;

  struct Message {
    std::shared_ptr<std::byte[]> bytes;
    std::size_t size = 0, capacity = 0;
    bool open = false;          // the first frame has begun
    proto::ReceiveSpace space;  // of what comes after the first space.begin bytes; the message is then one frame
  };

  struct Frame {
    Header header;
    std::uint64_t done = 0;  // bytes of it that are in the message

    std::uint64_t left() const { return header.length - done; }
  };

  std::span<const std::byte> buffered() const { return std::span(buffer_).subspan(begin_, end_ - begin_); }
  // The next bytes of the message.
  std::byte* target();
  bool is_worth_a_space(const Header& header) const;
  Result<Frame> begin_frame(const Header& header);
  void find_space(const Header& header);
  void reserve(std::size_t size, bool exactly);
  void fill_from_buffer(Frame& frame);
  void filled(Frame& frame, std::size_t count);
  Event take_control(const Header& header);

  const Role from_;
  std::size_t max_message_bytes_;
  const FindSpace find_space_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Message message_;
  std::optional<Frame> frame_;  // of the message, while it lasts
};

}  // namespace burn::net::ws
