#include "backends/collective/strip.h"

#include <algorithm>
#include <cstring>

namespace burn::backends {

Strip part_of(const ir::TensorType& type, std::byte* data, std::int64_t dim, std::int64_t begin, std::int64_t size) {
  std::size_t outer = 1, inner = ir::size_of(type.dtype);
  const auto axis = static_cast<int>(dim);
  for (int i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(type.shape[i]);
  for (int i = axis + 1; i < type.shape.rank(); ++i) inner *= static_cast<std::size_t>(type.shape[i]);
  const auto stride = static_cast<std::size_t>(type.shape[axis]) * inner;
  auto* const first = data ? data + static_cast<std::size_t>(begin) * inner : nullptr;
  const auto block = static_cast<std::size_t>(size) * inner;
  if (block == stride) return whole(first, outer * block);
  return {first, block, stride, block > 0 ? outer : 0};
}

void StripRange::append_places(std::size_t done, std::size_t most, std::vector<iovec>& places) const {
  auto at = begin + done;
  for (; at < end && most > 0; --most) {
    const auto row = at / strip.block, column = at % strip.block;
    const auto size = std::min(strip.block - column, end - at);
    places.push_back({strip.data + row * strip.stride + column, size});
    at += size;
  }
}

void copy(const StripRange& from, const StripRange& to) {
  for (std::size_t done = 0; done < from.bytes();) {
    const auto source = from.begin + done, target = to.begin + done;
    const auto source_column = source % from.strip.block, target_column = target % to.strip.block;
    const auto size = std::min({from.strip.block - source_column, to.strip.block - target_column, from.bytes() - done});
    std::memcpy(to.strip.data + target / to.strip.block * to.strip.stride + target_column,
                from.strip.data + source / from.strip.block * from.strip.stride + source_column, size);
    done += size;
  }
}

}  // namespace burn::backends
