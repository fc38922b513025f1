// Assembles WebSocket messages from the bytes read from a socket. A large message is read directly into the memory in
// which it is delivered.
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
  // Called for every large message: returns the memory for the bytes after its head. (ChannelHandler::receive_space)
  using FindSpace = std::function<proto::ReceiveSpace(std::span<const std::byte> head, std::uint64_t size)>;

  Inbox(Role from, std::size_t max_message_bytes, FindSpace find_space = {})
      : from_(from), max_message_bytes_(max_message_bytes), find_space_(std::move(find_space)), buffer_(kBufferBytes) {}

  // Where the next bytes are to be read; the second part only when the first is full. Either may be empty.
  std::array<std::span<std::byte>, 2> space();
  // `count` bytes were read into space().
  void advance(std::size_t count);

  std::size_t max_message_bytes() const { return max_message_bytes_; }
  // Applies to messages that have not begun.
  void set_max_message_bytes(std::size_t bytes) { max_message_bytes_ = bytes; }

  // Before the first frame: text() has the bytes received so far, skip() drops the first of them.
  std::string_view text() const;
  void skip(std::size_t count) { begin_ += count; }
  bool is_full() const { return end_ == buffer_.size() && begin_ == 0; }
  // Whether a message, or a frame of one, has begun and is not complete.
  bool is_within_message() const { return message_.open || frame_ || begin_ < end_; }

  struct Event {
    Opcode opcode = Opcode::binary;  // binary: a whole message; else close, ping or pong
    SharedBytes content;
    SharedBytes rest;  // of a message received in place: the bytes in its space, which follow `content`
  };
  // Returns what has arrived completely, one event at a time; then std::nullopt until more bytes are read.
  // Errors, the end of the connection: INVALID_ARGUMENT for broken framing, UNIMPLEMENTED for text, RESOURCE_EXHAUSTED
  // for a message beyond the limit.
  Result<std::optional<Event>> next();

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{16} << 10;  // headers and small messages
  static constexpr std::size_t kHeadBytes = 64;                       // head of a message by which FindSpace decides
  static constexpr std::size_t kMinInPlaceBytes = std::size_t{32} << 10;

  struct Message {
    std::shared_ptr<std::byte[]> bytes;
    std::size_t size = 0, capacity = 0;
    bool open = false;          // the first frame has begun
    proto::ReceiveSpace space;  // for the bytes after the first space.begin; the message is then one frame
  };

  struct Frame {
    Header header;
    std::uint64_t done = 0;  // bytes of it that are already in the message

    std::uint64_t left() const { return header.length - done; }
  };

  std::span<const std::byte> buffered() const { return std::span(buffer_).subspan(begin_, end_ - begin_); }
  // Where the next bytes of the message are stored.
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
  std::optional<Frame> frame_;  // the current frame of the message, until it is complete
};

}  // namespace burn::net::ws
