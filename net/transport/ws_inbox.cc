#include "net/transport/ws_inbox.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace burn::net::ws {

std::array<std::span<std::byte>, 2> Inbox::space() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (end_ == buffer_.size()) {  // the start of a frame; it is no longer than the buffer
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  const auto rest = std::span(buffer_).subspan(end_);
  if (!frame_) return {rest, {}};
  return {std::span{target(), frame_->left()}, rest};
}

void Inbox::advance(std::size_t count) {
  if (frame_) {
    const std::size_t direct = std::min<std::uint64_t>(count, frame_->left());
    filled(*frame_, direct);
    count -= direct;
  }
  end_ += count;
}

std::string_view Inbox::text() const { return {reinterpret_cast<const char*>(buffer_.data()) + begin_, end_ - begin_}; }

Result<std::optional<Inbox::Event>> Inbox::next() {
  for (;;) {
    if (!frame_) {
      BURN_TRY(const std::optional<Header> header, parse_header(buffered(), from_));
      if (!header) return std::optional<Event>{};
      if (is_control(header->opcode)) {
        if (buffered().size() < header->size + header->length) return std::optional<Event>{};
        return std::optional{take_control(*header)};
      }
      if (is_worth_a_space(*header) && buffered().size() < header->size + kHeadBytes) return std::optional<Event>{};
      BURN_TRY(frame_, begin_frame(*header));
    }
    Frame& frame = *frame_;
    fill_from_buffer(frame);
    if (frame.left() > 0) return std::optional<Event>{};
    const bool is_last = frame.header.final;
    frame_.reset();
    if (!is_last) continue;
    Message whole = std::exchange(message_, {});
    auto& rest = whole.space;
    const std::span<const std::byte> bytes{whole.bytes.get(), rest.begin > 0 ? rest.begin : whole.size};
    return std::optional{Event{Opcode::binary, SharedBytes{std::move(whole.bytes), bytes},
                               SharedBytes{std::move(rest.owner), rest.bytes}}};
  }
}

// Only for messages of one frame: the first fragment of another may be shorter than the head.
bool Inbox::is_worth_a_space(const Header& header) const {
  return find_space_ && header.final && !message_.open && header.length >= kMinInPlaceBytes &&
         header.length <= max_message_bytes_;
}

void Inbox::find_space(const Header& header) {
  std::array<std::byte, kHeadBytes> head;
  std::ranges::copy(buffered().first(kHeadBytes), head.begin());
  if (header.mask) unmask(head, *header.mask, 0);
  proto::ReceiveSpace rest = find_space_(head, header.length);
  const bool fits = rest.begin > 0 && rest.begin <= kHeadBytes && rest.bytes.size() == header.length - rest.begin;
  if (fits) message_.space = std::move(rest);
}

std::byte* Inbox::target() {
  const proto::ReceiveSpace& rest = message_.space;
  return rest.begin == 0 ? message_.bytes.get() + message_.size : rest.bytes.data() + (message_.size - rest.begin);
}

Result<Inbox::Frame> Inbox::begin_frame(const Header& header) {
  if (header.opcode == Opcode::text) return unimplemented("a text message; frames are binary");
  if ((header.opcode == Opcode::continuation) != message_.open) {
    return invalid_argument(message_.open ? "a message within a message" : "a continuation of nothing");
  }
  if (header.length > max_message_bytes_ - std::min(message_.size, max_message_bytes_)) {
    return resource_exhausted("a frame of more than " + std::to_string(max_message_bytes_) + " bytes");
  }
  const bool may_have_space = is_worth_a_space(header);
  begin_ += header.size;
  if (may_have_space) find_space(header);
  const std::size_t head = message_.space.begin;
  reserve(head > 0 ? head : message_.size + header.length, header.final && !message_.open);
  message_.open = true;
  if (head > 0) {  // bytes before the space
    std::memcpy(message_.bytes.get(), buffered().data(), head);
    if (header.mask) unmask({message_.bytes.get(), head}, *header.mask, 0);
    begin_ += head;
    message_.size = head;
  }
  return Frame{header, head};
}

void Inbox::reserve(std::size_t size, bool exactly) {
  if (size <= message_.capacity) return;
  // Doubled for fragmented messages, as otherwise one of many fragments would be copied as many times.
  const std::size_t capacity = exactly ? size : std::max(size, 2 * message_.capacity);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(capacity);
  if (message_.size > 0) std::memcpy(bytes.get(), message_.bytes.get(), message_.size);
  message_.bytes = std::move(bytes);
  message_.capacity = capacity;
}

void Inbox::fill_from_buffer(Frame& frame) {
  const auto available = buffered();
  const std::size_t count = std::min<std::uint64_t>(available.size(), frame.left());
  if (count == 0) return;
  std::memcpy(target(), available.data(), count);
  begin_ += count;
  filled(frame, count);
}

void Inbox::filled(Frame& frame, std::size_t count) {
  if (const auto& mask = frame.header.mask) unmask({target(), count}, *mask, frame.done);
  message_.size += count;
  frame.done += count;
}

Inbox::Event Inbox::take_control(const Header& header) {
  const auto content = buffered().subspan(header.size, header.length);
  std::vector<std::byte> copy(content.begin(), content.end());
  if (header.mask) unmask(copy, *header.mask, 0);
  begin_ += header.size + header.length;
  return {header.opcode, SharedBytes::own(std::move(copy)), {}};
}

}  // namespace burn::net::ws
