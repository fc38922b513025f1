#include "store/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "store/safetensors_json.h"

namespace burn::store {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie in memory");

constexpr std::uint64_t kLengthBytes = 8;

Status check_size(const SafetensorsEntry& tensor) {
  const auto count = ir::checked_num_elements(tensor.type.shape);
  if (!count)
    return invalid_argument(fmt::format("tensor {} is too large: {}", quoted(tensor.name), to_string(tensor.type)));
  const auto bytes = tensor.type.num_bytes();
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != bytes) {
    return invalid_argument(fmt::format("tensor {} is {} of {} bytes, but its data_offsets are {} to {}",
                                        quoted(tensor.name), to_string(tensor.type), bytes, tensor.begin, tensor.end));
  }
  return {};
}

// Checks that every byte of the data belongs to exactly one tensor, so that a file cannot hide anything, or be larger
// in memory than on disk.
Status check_layout(SafetensorsHeader& header, std::uint64_t data_size) {
  for (const auto& tensor : header.tensors) BURN_RETURN_IF_ERROR(check_size(tensor));
  std::ranges::sort(header.tensors, [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t place = 0;
  for (const auto& tensor : header.tensors) {
    if (tensor.begin != place) {
      return invalid_argument(fmt::format("tensor {} starts at {}, but the one before it ends at {}",
                                          quoted(tensor.name), tensor.begin, place));
    }
    place = tensor.end;
  }
  if (place != data_size) {
    return invalid_argument(fmt::format("the tensors end at {}, but there are {} bytes of data", place, data_size));
  }
  return {};
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes) {
    return invalid_argument(fmt::format("this is no safetensors file: {} bytes are too few for one", file.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  // The first bytes of other files, read as a length, are nearly always too large.
  if (length > kMaxHeaderBytes) {
    return invalid_argument(
        fmt::format("this is no safetensors file: its header would have {} bytes, more than the {} allowed", length,
                    kMaxHeaderBytes));
  }
  if (length > file.size() - kLengthBytes) {
    return invalid_argument(
        fmt::format("this is no safetensors file, or one cut short: the header claims {} bytes, but {} follow", length,
                    file.size() - kLengthBytes));
  }
  const auto text = std::string_view(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  BURN_TRY(auto header, parse_header_json(text));
  header.data_start = kLengthBytes + length;
  BURN_RETURN_IF_ERROR(check_layout(header, file.size() - header.data_start));
  return header;
}

std::string format_safetensors(const SafetensorsHeader& header) {
  std::string json = format_header_json(header);
  json.append((8 - json.size() % 8) % 8, ' ');
  const std::uint64_t length = json.size();
  std::string out(kLengthBytes, '\0');
  std::memcpy(out.data(), &length, kLengthBytes);
  return out + json;
}

std::string quoted(std::string_view name) {
  constexpr std::size_t kShown = 100;
  std::string out = "'";
  for (const char c : name.substr(0, kShown)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '.' : c;
  return out + (name.size() > kShown ? "...'" : "'");
}

}  // namespace burn::store
