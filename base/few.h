// A list whose length is chosen when it is made, and which is nearly always short: no allocation up to N elements.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace burn {

// Of default-constructible Ts. Moved, not copied.
template <typename T, std::size_t N>
class Few {
 public:
  Few() = default;
  explicit Few(std::size_t size) : size_(size), many_(size > N ? std::make_unique<T[]>(size) : nullptr) {}
  Few(Few&& other) noexcept
      : size_(std::exchange(other.size_, 0)), few_(std::move(other.few_)), many_(std::move(other.many_)) {}
  Few& operator=(Few&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    few_ = std::move(other.few_);
    many_ = std::move(other.many_);
    return *this;
  }

  void clear() {
    for (T& one : *this) one = T{};
    size_ = 0;
    many_.reset();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return many_ ? many_.get() : few_.data(); }
  const T* data() const { return many_ ? many_.get() : few_.data(); }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  std::size_t size_ = 0;
  std::array<T, N> few_{};
  std::unique_ptr<T[]> many_;  // all of them, when there are more than N
};

}  // namespace burn
