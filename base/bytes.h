// Reference-counted bytes, which are passed from user memory to a socket and back without copying.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace burn {

// An immutable view of bytes and a shared owner that keeps them alive. Cheap to copy; safe to share between threads.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  // Takes over a vector of trivially copyable elements.
  template <typename T>
  static SharedBytes own(std::vector<T> values) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    SharedBytes all{owner, std::as_bytes(std::span{*owner})};
    all.is_vector_ = true;
    return all;
  }

  std::span<const std::byte> span() const { return bytes_; }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  bool is_sole() const { return owner_.use_count() == 1; }  // no other SharedBytes shares the owner
  // True if these are all bytes of a vector passed to own(): they never change, and keep no other memory alive.
  bool is_vector() const { return is_vector_; }

  // A part that shares the owner. Requires: offset + length <= size().
  SharedBytes slice(std::size_t offset, std::size_t length) const { return {owner_, bytes_.subspan(offset, length)}; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  bool is_vector_ = false;
};

}  // namespace burn
