// An array of a size fixed at construction and usually short: up to N elements are stored inline.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace burn {

// Requires: T is default-constructible. Movable, not copyable.
template <typename T, std::size_t N>
class SmallArray {
 public:
  SmallArray() = default;
  explicit SmallArray(std::size_t size) : size_(size), heap_(size > N ? std::make_unique<T[]>(size) : nullptr) {}
  SmallArray(SmallArray&& other) noexcept
      : size_(std::exchange(other.size_, 0)), inline_(std::move(other.inline_)), heap_(std::move(other.heap_)) {}
  SmallArray& operator=(SmallArray&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    inline_ = std::move(other.inline_);
    heap_ = std::move(other.heap_);
    return *this;
  }

  void clear() {
    for (T& one : *this) one = T{};
    size_ = 0;
    heap_.reset();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_.data(); }
  const T* data() const { return heap_ ? heap_.get() : inline_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  std::size_t size_ = 0;
  std::array<T, N> inline_{};
  std::unique_ptr<T[]> heap_;  // all elements, if there are more than N
};

}  // namespace burn
