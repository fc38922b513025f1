// A thread-local free list for small objects that are made and destroyed by the thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace burn {
namespace detail {

// A thread's free list for one block size. Trivially destructible, so that objects which outlive the thread's other
// variables can still be freed; Drain empties it before the thread ends.
struct FreeBlocks {
  struct Block {
    Block* next;
  };
  Block* first = nullptr;
  std::uint32_t count = 0;
  bool is_drained = false;  // the thread is ending: blocks are no longer kept
};

template <std::size_t kSize>
class BlockPool {
 public:
  static void* take() {
    FreeBlocks& free = free_;
    if (free.first == nullptr) return ::operator new(kSize);
    auto* block = free.first;
    free.first = block->next;
    --free.count;
    return block;
  }

  static void give(void* memory) noexcept {
    FreeBlocks& free = free_;
    if (free.count >= kMaxKept || free.is_drained) {
      ::operator delete(memory);
      return;
    }
    if (free.count == 0) (void)&drain_;  // registers its destructor with this thread
    free.first = new (memory) FreeBlocks::Block{free.first};
    ++free.count;
  }

 private:
  static constexpr std::uint32_t kMaxKept = (std::uint32_t{2} << 20) / kSize;  // 2 MiB per thread and size

  struct Drain {
    ~Drain() {
      FreeBlocks& free = free_;
      free.is_drained = true;
      while (free.first != nullptr) {
        auto* block = free.first;
        free.first = block->next;
        ::operator delete(block);
      }
      free.count = 0;
    }
  };

  static inline constinit thread_local FreeBlocks free_{};
  static inline thread_local Drain drain_{};
};

}  // namespace detail

// Base class whose new and delete use the pool. Not under a sanitizer, which would miss a use after free.
template <typename T>
class Pooled {
 public:
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static void* operator new(std::size_t) { return detail::BlockPool<sizeof(T)>::take(); }
  static void operator delete(void* memory) noexcept { detail::BlockPool<sizeof(T)>::give(memory); }
#endif
};

}  // namespace burn
