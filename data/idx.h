// IDX files, the format of MNIST: a magic number, sizes, and bytes; plain or compressed with gzip.
//
//   u8 0, u8 0, u8 type, u8 rank    then per dimension u32 big-endian, then the elements, row-major
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/status.h"
#include "ir/types/shape.h"

namespace burn::data {

struct IdxArray {
  ir::Shape shape;
  std::vector<std::uint8_t> values;
};

// Reads an array of unsigned bytes of that rank; anything else is an error. Compression is recognised by the contents.
// A file cannot make it allocate more memory than its bytes can unpack to, whatever sizes it claims. Errors:
// INVALID_ARGUMENT or DATA_LOSS, one sentence with the numbers.
Result<IdxArray> parse_idx(std::span<const std::byte> file, int rank);

// The same from a file, which the errors name. Errors: also NOT_FOUND if it does not exist.
Result<IdxArray> read_idx(const std::filesystem::path& path, int rank);

}  // namespace burn::data
