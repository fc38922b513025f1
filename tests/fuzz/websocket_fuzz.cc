// The bytes of a WebSocket, from either side: a handshake, then frames, in whatever pieces they come. An inbox never
// writes beyond the space it gives, nor makes more of what it was told than the limit; and what was masked twice is
// what it was.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "net/transport/ws_handshake.h"
#include "net/transport/ws_inbox.h"

using namespace burn::net;

namespace {

constexpr std::size_t kMaxBytes = 70'000;

void shake_hands(std::string_view text) {
  const std::vector<std::string> origins = {"https://example.org"};
  const std::size_t size = ws::http_header_size(text);
  if (size > text.size()) std::abort();
  const auto header = text.substr(0, size);
  const auto answer = ws::answer_upgrade(
      header, [] { return true; }, origins);
  if (answer.text.empty() || answer.status.ok() != answer.text.starts_with("HTTP/1.1 101")) std::abort();
  (void)ws::check_upgrade(header, "dGhlIHNhbXBsZSBub25jZQ==");
}

// Large messages go where the receiver says, if their fourth byte is even.
burn::proto::ReceiveSpace space_for(std::span<const std::byte> head, std::uint64_t size) {
  if (size > kMaxBytes) std::abort();
  if (head.size() < 8 || std::to_integer<int>(head[3]) % 2 != 0) return {};
  const std::size_t begin = 1 + std::to_integer<std::size_t>(head[4]) % 64;
  if (begin >= size) return {};
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(size - begin);
  const std::span rest{bytes.get(), size - begin};
  return {begin, std::move(bytes), rest};
}

void receive(const std::uint8_t* data, std::size_t size, ws::Role from, std::size_t piece) {
  ws::Inbox inbox{from, kMaxBytes, space_for};
  while (size > 0) {
    std::size_t taken = 0;
    for (const auto space : inbox.space()) {
      const std::size_t count = std::min({space.size(), size - taken, piece - taken});
      std::memcpy(space.data(), data + taken, count);
      taken += count;
      if (count < space.size()) break;
    }
    if (taken == 0) std::abort();  // it would never go on
    inbox.advance(taken);
    data += taken;
    size -= taken;
    while (true) {
      const auto event = inbox.next();
      if (!event.ok()) return;
      if (!*event) break;
      if ((*event)->content.size() + (*event)->rest.size() > kMaxBytes) std::abort();
      if ((*event)->opcode == ws::Opcode::close) (void)ws::decode_close((*event)->content.span());
      for (const auto& bytes : {(*event)->content, (*event)->rest}) {
        const std::vector<std::byte> copy(bytes.span().begin(), bytes.span().end());  // all of it is there
      }
    }
  }
}

void mask_twice(std::span<const std::byte> bytes) {
  if (bytes.size() < 5) return;
  ws::Mask mask;
  std::copy_n(bytes.begin(), 4, mask.begin());
  std::vector<std::byte> copy(bytes.begin() + 4, bytes.end());
  ws::unmask(copy, mask, 3);
  ws::unmask(copy, mask, 3);
  if (!std::equal(copy.begin(), copy.end(), bytes.begin() + 4)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto how = data[0];
  const std::size_t piece = 1 + std::size_t{data[1]} * (how & 2 ? 1 : 64);
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  if (how & 4) shake_hands({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (how & 8) mask_twice(bytes);
  receive(data + 2, size - 2, how & 1 ? ws::Role::client : ws::Role::server, piece);
  return 0;
}
