// The interface between loaders and batchers (data/loader.h).
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "client/device.h"
#include "data/indices.h"

namespace burn::data::internal {

template <typename Batcher, typename Item>
auto make_batch(const Batcher& batcher, std::vector<Item> items) {
  if constexpr (requires { batcher.batch(std::move(items)); }) {
    return batcher.batch(std::move(items));
  } else {
    return batcher(std::move(items));
  }
}

// A device's part of a batch, as DataLoader::parts_on() divides it.
template <typename Item>
std::vector<Item> part_of(std::vector<Item> items, std::size_t part, std::size_t parts) {
  if (parts == 1) return items;
  auto [begin, end] = even_ranges(items.size(), parts)[part];
  if (begin == end) begin = 0, end = 1;
  const auto at = [&](std::size_t i) {
    return std::make_move_iterator(items.begin() + static_cast<std::ptrdiff_t>(i));
  };
  return {at(begin), at(end)};
}

template <typename Batcher>
concept HasDevice = requires(Batcher& batcher) {
  { batcher.device } -> std::same_as<Device&>;
};
template <typename Batcher>
concept MovesToDevice = requires(const Batcher& batcher, const Device& device) {
  { batcher.to_device(device) } -> std::same_as<Batcher>;
};

// A copy of the batcher for another device, with autodiff if it had that.
template <typename Batcher>
Batcher on_device(Batcher batcher, const Device& device) {
  if constexpr (MovesToDevice<Batcher>) {
    return batcher.to_device(device);
  } else {
    batcher.device = batcher.device.is_autodiff() ? device.autodiff() : device.inner();
    return batcher;
  }
}

}  // namespace burn::data::internal
