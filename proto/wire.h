// Reads and writes Protocol Buffers' wire format without protobuf's objects, which need several allocations for each
// part: programs of thousands of parts may be sent with every step. Input is not trusted, and not copied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace burn::proto {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, block = 2, group = 3, end_group = 4, fixed32 = 5 };

// Reads the fields of one message in order. Every function returns whether the bytes were valid; after false, no
// function may be called.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }

  // Reads the tag of the next field. Field numbers are at least 1.
  bool tag(int& field, WireType& type) {
    std::uint64_t tag = 0;
    if (!varint(tag) || tag > 0xffffffff || tag < 8 || (tag & 7) > 5) return false;
    field = static_cast<int>(tag >> 3);
    type = static_cast<WireType>(tag & 7);
    return true;
  }

  bool varint(std::uint64_t& value) {
    if (at_ != end_ && static_cast<signed char>(*at_) >= 0) [[likely]] {
      value = static_cast<unsigned char>(*at_++);
      return true;
    }
    value = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool fixed64(std::uint64_t& value) {
    if (end_ - at_ < 8) return false;
    value = 0;
    for (int k = 0; k < 8; ++k) value |= std::uint64_t{static_cast<unsigned char>(at_[k])} << (8 * k);
    at_ += 8;
    return true;
  }

  // Reads a length and that many bytes.
  bool block(std::string_view& bytes) {
    std::uint64_t size = 0;
    if (!varint(size) || size > static_cast<std::uint64_t>(end_ - at_)) return false;
    bytes = {at_, static_cast<std::size_t>(size)};
    at_ += size;
    return true;
  }

  // Skips the value of an unknown field. Groups, which proto3 does not have, may be nested.
  bool skip(int field, WireType type) {
    std::uint64_t number = 0;
    std::string_view bytes;
    switch (type) {
      case WireType::varint:
        return varint(number);
      case WireType::fixed64:
        return advance(8);
      case WireType::block:
        return block(bytes);
      case WireType::fixed32:
        return advance(4);
      case WireType::group:
        return skip_group(field);
      case WireType::end_group:
        return false;
    }
    return false;
  }

 private:
  bool advance(std::ptrdiff_t count) {
    if (end_ - at_ < count) return false;
    at_ += count;
    return true;
  }

  bool skip_group(int field) {
    constexpr int kMaxDepth = 32;
    int open[kMaxDepth] = {field};
    for (int depth = 1; depth > 0;) {
      int inner = 0;
      auto type = WireType::varint;
      if (!tag(inner, type)) return false;
      if (type == WireType::group) {
        if (depth == kMaxDepth) return false;
        open[depth++] = inner;
      } else if (type == WireType::end_group) {
        if (open[--depth] != inner) return false;
      } else if (!skip(inner, type)) {
        return false;
      }
    }
    return true;
  }

  const char* at_;
  const char* end_;
};

constexpr std::int64_t zigzag_decode(std::uint64_t n) { return static_cast<std::int64_t>((n >> 1) ^ (0 - (n & 1))); }
constexpr std::uint64_t zigzag_encode(std::int64_t n) {
  return (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63);
}
// 32-bit fields are sent as 64 bits; the upper half is discarded when read.
constexpr std::int32_t zigzag_decode32(std::uint64_t n) {
  const auto low = static_cast<std::uint32_t>(n);
  return static_cast<std::int32_t>((low >> 1) ^ (0 - (low & 1)));
}
constexpr std::uint64_t zigzag_encode32(std::int32_t n) {
  return (static_cast<std::uint32_t>(n) << 1) ^ static_cast<std::uint32_t>(n >> 31);
}

// Appends fields to a message. Field numbers up to 15 only, whose tags are one byte.
class WireWriter {
 public:
  std::string take() {
    bytes_.resize(size_);
    size_ = 0;
    return std::move(bytes_);
  }
  void reserve(std::size_t bytes) { make_room(bytes); }

  void varint(std::uint64_t value) {
    auto* at = make_room(10);
    const auto* begin = at;
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    size_ += static_cast<std::size_t>(at - begin);
  }
  void tag(int field, WireType type) {
    *make_room(1) = static_cast<char>(field << 3 | static_cast<int>(type));
    ++size_;
  }

  void number(int field, std::uint64_t value) {
    tag(field, WireType::varint);
    varint(value);
  }
  // Omits zeros, as proto3 does for fields that are not `optional`.
  void number_if_set(int field, std::uint64_t value) {
    if (value != 0) number(field, value);
  }
  void text(int field, std::string_view value) {
    tag(field, WireType::block);
    varint(value.size());
    value.copy(make_room(value.size()), value.size());
    size_ += value.size();
  }
  void real(int field, double value) {
    tag(field, WireType::fixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    auto* at = make_room(8);
    for (int k = 0; k < 8; ++k) at[k] = static_cast<char>(bits >> (8 * k));
    size_ += 8;
  }

  // Appends what `write` writes as a length-delimited block. One byte is reserved for the length, which nearly always
  // suffices.
  template <typename Write>
  void block(int field, Write&& write) {
    tag(field, WireType::block);
    make_room(1);
    const auto begin = size_++;
    write();
    const auto size = size_ - begin - 1;
    if (size < 0x80) [[likely]] {
      bytes_[begin] = static_cast<char>(size);
      return;
    }
    std::size_t length = 1;  // bytes of the encoded size
    while (size >> (7 * length) != 0) ++length;
    make_room(length);
    std::memmove(bytes_.data() + begin + length, bytes_.data() + begin + 1, size);
    size_ = begin;
    varint(size);
    size_ += size;
  }

 private:
  // Returns where to write the next `count` bytes.
  char* make_room(std::size_t count) {
    if (bytes_.size() - size_ < count) [[unlikely]]
      bytes_.resize(std::max(2 * bytes_.size(), size_ + count));
    return bytes_.data() + size_;
  }

  std::string bytes_;  // size_ bytes are written, the rest is capacity
  std::size_t size_ = 0;
};

}  // namespace burn::proto
