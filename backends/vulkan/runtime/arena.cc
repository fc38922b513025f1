#include "backends/vulkan/runtime/arena.h"

#include <algorithm>

namespace burn::backends::vulkan {

Status Arena::reserve(StreamMemory& memory, std::uint64_t bytes) {
  const auto page = page_ == 0 ? std::max<std::uint64_t>(bytes, 1) : page_;
  const auto full = bytes / page, rest = bytes % page;
  const auto count = full + (rest > 0 ? 1 : 0);
  const auto size_of = [&](std::uint64_t p) { return p < full ? page : rest; };
  for (std::uint64_t p = 0; p < count; ++p) {
    if (p < pages_.size() && pages_[p]->size() >= size_of(p)) continue;
    if (p < pages_.size()) pages_.resize(p);  // freed before the larger one is allocated, which may reuse its memory
    auto made = memory.allocate(size_of(p));
    if (!made.ok()) {
      clear();
      return made.status();
    }
    pages_.push_back(*std::move(made));
  }
  return {};
}

void Arena::clear() { pages_.clear(); }

Piece Arena::at(std::uint64_t offset) const {
  const auto p = page_ == 0 ? 0 : offset / page_;
  auto piece = pages_[p]->piece();
  piece.offset += page_ == 0 ? offset : offset % page_;
  return piece;
}

std::vector<std::int64_t> Arena::addresses(std::span<const std::int64_t> offsets) const {
  std::vector<std::int64_t> all(offsets.size(), 0);
  if (pages_.empty()) return all;
  for (std::size_t k = 0; k < all.size(); ++k) {
    // A value of no bytes may be placed at the end of the last page.
    const auto offset = static_cast<std::uint64_t>(offsets[k]);
    const auto p = page_ == 0 ? 0 : std::min<std::uint64_t>(offset / page_, pages_.size() - 1);
    all[k] = static_cast<std::int64_t>(pages_[p]->address() + offset - p * page_);
  }
  return all;
}

}  // namespace burn::backends::vulkan
