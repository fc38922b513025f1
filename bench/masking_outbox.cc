// The frames of our outbox with random masks, as RFC 6455 requires of clients, instead of masks of zeros: for the
// benchmark that links this file instead of net/transport/ws_outbox.cc, to measure the cost of masking (ADR 026).
// Supports one connection per process.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <sys/uio.h>

#include "net/transport/ws_outbox.h"

namespace burn::net::ws {
namespace {

constexpr std::size_t kMaskedAtOnce = std::size_t{128} << 10;
std::vector<std::byte> masked(kMaskedAtOnce);
std::minstd_rand keys;  // the cost of a key is negligible next to that of the bytes

}  // namespace

void Outbox::add(proto::EncodedFrame frame) {
  Piece piece{make_header(Opcode::binary, frame.size(), from_), std::move(frame)};
  if (from_ == Role::client) {
    const std::uint32_t key = static_cast<std::uint32_t>(keys()) | 1U;
    std::memcpy(piece.prefix.data() + piece.prefix.size() - 4, &key, 4);
  }
  bytes_ += piece.size();
  pieces_.push_back(std::move(piece));
}

std::size_t Outbox::parts(std::span<iovec, kMaxParts> parts, std::size_t most) const {
  std::size_t count = 0, skip = gone_, used = 0;
  for (const Piece& piece : pieces_) {
    const bool masks = from_ == Role::client && piece.frame.size() > 0;
    Mask mask{};
    if (masks) std::memcpy(mask.data(), piece.prefix.data() + piece.prefix.size() - 4, 4);
    std::uint64_t offset = 0;  // in the message
    bool is_first = true;
    const auto add = [&](const void* data, std::size_t size) {
      const std::size_t skipped = std::min(skip, size);
      skip -= skipped;
      auto* from = const_cast<std::byte*>(static_cast<const std::byte*>(data)) + skipped;
      std::size_t left = std::min(size - skipped, most);
      if (masks && !is_first) {
        left = std::min(left, masked.size() - used);
        std::memcpy(masked.data() + used, from, left);
        from = masked.data() + used;
        unmask({from, left}, mask, offset + skipped);
        used += left;
        offset += size;
      }
      is_first = false;
      most -= left;
      if (left > 0) parts[count++] = {from, left};
      return left == size - skipped;
    };
    if (count + 3 > kMaxParts || used == masked.size() || most == 0) break;
    if (!add(piece.prefix.data(), piece.prefix.size()) || !add(piece.frame.header.data(), piece.frame.header.size()) ||
        !add(piece.frame.payload.data(), piece.frame.payload.size())) {
      break;
    }
  }
  return count;
}

}  // namespace burn::net::ws
