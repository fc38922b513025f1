// The header of a safetensors file: https://github.com/huggingface/safetensors
//
//   u64 little-endian   the header's length, at most kMaxHeaderBytes
//   header              JSON: {"__metadata__": {"key": "value"},
//                              "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//   data                the tensors, row-major, little-endian, without gaps; offsets count from here
//
// Files are not trusted: every header that parse_safetensors() accepts has distinct names, known types, and tensors
// that cover the data exactly once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "ir/types/shape.h"

namespace burn::store {

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the reference implementation's limit

struct SafetensorsEntry {
  std::string name;
  ir::TensorType type;
  std::uint64_t begin = 0, end = 0;  // bytes, from the start of the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the order of their data
  std::map<std::string, std::string> metadata;
  std::uint64_t data_start = 0;  // in the file
};

// Reads the header of a whole file. Errors: INVALID_ARGUMENT saying in one sentence what is wrong, with names and
// numbers.
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file);

// The bytes of a file before the data of `header.tensors`: the length and the JSON, padded with blanks to 8 bytes.
std::string format_safetensors(const SafetensorsHeader& header);

// Formats a name from a file for a message: quoted, without control characters, shortened.
std::string quoted(std::string_view name);

}  // namespace burn::store
