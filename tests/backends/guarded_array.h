// An array that ends at a protected page: an access beyond its end crashes the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace burn::backends {

// `count` elements that end at a protected page; element i is number(i).
template <typename T>
class GuardedArray {
 public:
  GuardedArray(std::int64_t count, T (*number)(std::int64_t)) : count_(count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)),
               used = static_cast<std::size_t>(count) * sizeof(T);
    size_ = (used + page - 1) / page * page + page;
    memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* const end = static_cast<std::byte*>(memory_) + size_ - page;
    ::mprotect(end, page, PROT_NONE);
    data = reinterpret_cast<T*>(end - used);
    for (std::int64_t i = 0; i < count; ++i) data[i] = number(i);
  }
  ~GuardedArray() { ::munmap(memory_, size_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  std::vector<T> values() const { return {data, data + count_}; }

  T* data;

 private:
  std::int64_t count_;
  std::size_t size_;
  void* memory_;
};

}  // namespace burn::backends
