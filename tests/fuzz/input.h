// Reads numbers and texts from a fuzzer's bytes; returns zeros after their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace burn::fuzz {

class Input {
 public:
  // `small`: most numbers are below it, so that the same ids occur repeatedly.
  Input(const std::uint8_t* data, std::size_t size, std::uint64_t small)
      : at_(data), end_(data + size), small_(small) {}

  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return empty() ? 0 : *at_++; }
  // Mostly a small number, sometimes any.
  std::uint64_t number() {
    const auto first = byte();
    if (first < 0xf8) return first % small_;
    std::uint64_t value = 0;
    for (int i = 0; i < (first & 7) + 1; ++i) value = (value << 8) | byte();
    return value;
  }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> values(byte() % 4);
    for (auto& value : values) value = number();
    return values;
  }
  std::string text() {
    std::string bytes;
    for (auto size = byte(); size > 0; --size) bytes += static_cast<char>(byte());
    return bytes;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* const end_;
  const std::uint64_t small_;
};

}  // namespace burn::fuzz
