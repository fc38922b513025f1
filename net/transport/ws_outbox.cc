#include "net/transport/ws_outbox.h"

#include <algorithm>
#include <utility>

#include <sys/uio.h>

namespace burn::net::ws {

void Outbox::add(proto::EncodedFrame frame) {
  Piece piece{make_header(Opcode::binary, frame.size(), from_), std::move(frame)};
  bytes_ += piece.size();
  pieces_.push_back(std::move(piece));
}

std::size_t Outbox::parts(std::span<iovec, kMaxParts> parts, std::size_t most) const {
  std::size_t count = 0;
  std::size_t skip = gone_;
  const auto add = [&](const void* data, std::size_t size) {
    const std::size_t skipped = std::min(skip, size);
    skip -= skipped;
    const std::size_t taken = std::min(size - skipped, most);
    if (taken == 0) return;
    most -= taken;
    parts[count++] = {const_cast<char*>(static_cast<const char*>(data)) + skipped, taken};
  };
  for (const Piece& piece : pieces_) {
    if (count + 3 > kMaxParts || most == 0) break;
    add(piece.prefix.data(), piece.prefix.size());
    add(piece.frame.header.data(), piece.frame.header.size());
    add(piece.frame.payload.data(), piece.frame.payload.size());
  }
  return count;
}

}  // namespace burn::net::ws
