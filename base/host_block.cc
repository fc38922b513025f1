#include "base/host_block.h"

#include <cstdint>
#include <new>
#include <vector>

#include <sys/mman.h>

#include "base/fork.h"
#include "base/pages.h"
#include "base/thread_annotations.h"

namespace burn {
namespace {

constexpr std::align_val_t kAlignment{64};          // a cache line, and any vector register
constexpr std::size_t kMinMapped = 2 * kLargePage;  // below this, the allocator keeps pages itself
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMaxKept = 0;  // so that it sees uses after free
#else
constexpr std::size_t kMaxKept = std::size_t{512} << 20;
#endif

struct Block {
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  std::int64_t since = 0;  // when it was freed, in coarse milliseconds
};

void unmap(const Block& block) { unmap_pages(block.bytes, block.size); }

class BlockCache {
 public:
  BlockCache() { lock_during_fork(mutex_.native()); }

  // Returns the smallest block that fits and wastes at most a quarter of it; an empty Block if there is none.
  Block take(std::size_t size) {
    const MutexLock lock(mutex_);
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      const bool fits = it->size >= size && it->size - size <= it->size / 4;
      if (fits && (best == blocks_.end() || it->size < best->size)) best = it;
    }
    if (best == blocks_.end()) return {};
    const Block block = *best;
    blocks_.erase(best);
    bytes_ -= block.size;
    return block;
  }

  void put(Block block) {
    if (block.size > kMaxKept) return unmap(block);
    ::madvise(block.bytes, block.size, MADV_FREE);
    block.since = coarse_milliseconds();
    {
      const MutexLock lock(mutex_);
      blocks_.push_back(block);
      bytes_ += block.size;
    }
    drop(kMaxKept, block.since);
  }

  // Unmaps blocks freed at `until` or before, oldest first, until `keep` bytes are left. Returns the bytes freed.
  std::size_t drop(std::size_t keep, std::int64_t until) {
    std::vector<Block> dropped;
    std::size_t freed = 0;
    {
      const MutexLock lock(mutex_);
      auto it = blocks_.begin();
      for (; it != blocks_.end() && bytes_ - freed > keep && it->since <= until; ++it) freed += it->size;
      dropped.assign(blocks_.begin(), it);
      blocks_.erase(blocks_.begin(), it);
      bytes_ -= freed;
    }
    for (const Block& old : dropped) unmap(old);
    return freed;
  }

  std::size_t bytes() const {
    const MutexLock lock(mutex_);
    return bytes_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<Block> blocks_ BURN_GUARDED_BY(mutex_);
  std::size_t bytes_ BURN_GUARDED_BY(mutex_) = 0;
};

BlockCache& block_cache() {
  static auto& all = *new BlockCache;  // blocks may be freed until the process ends
  return all;
}

std::shared_ptr<std::byte[]> small_block(std::size_t size) {
  auto* const bytes = static_cast<std::byte*>(::operator new[](size, kAlignment, std::nothrow));
  if (bytes == nullptr) return nullptr;
  return {bytes, [](std::byte* p) { ::operator delete[](p, kAlignment); }};
}

}  // namespace

std::shared_ptr<std::byte[]> host_block(std::size_t size) {
  if (size < kMinMapped) return small_block(size);
  if (size > ~std::size_t{0} / 2) return nullptr;
  const std::size_t rounded = (size + kLargePage - 1) / kLargePage * kLargePage;
  Block block = block_cache().take(rounded);
  if (block.bytes == nullptr) block = {.bytes = map_pages(rounded), .size = rounded};
  if (block.bytes == nullptr) return nullptr;
  return {block.bytes, [block](std::byte*) { block_cache().put(block); }};
}

std::size_t trim_host_blocks(std::size_t keep, std::chrono::milliseconds unused_for) {
  return block_cache().drop(keep, coarse_milliseconds() - unused_for.count());
}

std::size_t kept_host_bytes() { return block_cache().bytes(); }

}  // namespace burn
