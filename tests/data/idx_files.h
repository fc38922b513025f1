// IDX files for tests, good and bad.
#pragma once

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <zlib.h>

namespace burn::test {

inline std::string idx_header(std::uint8_t type, const std::vector<std::uint32_t>& sizes) {
  std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const auto size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  }
  return out;
}

// An array of bytes that count up from 0.
inline std::string idx_file(const std::vector<std::uint32_t>& sizes) {
  std::string out = idx_header(8, sizes);
  const auto count = std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies{});
  for (std::size_t i = 0; i < count; ++i) out += static_cast<char>(i & 0xff);
  return out;
}

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflate");
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace burn::test
