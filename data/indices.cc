#include "data/indices.h"

#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "data/dataset.h"
#include "data/random.h"

namespace burn::data {

std::vector<std::size_t> shuffled_indices(std::size_t size, std::uint64_t seed) { return permutation(size, Rng(seed)); }

std::vector<std::size_t> sampled_indices(std::size_t source_size, std::size_t size, std::uint64_t seed,
                                         Replacement replacement) {
  if (source_size == 0 && size > 0) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("data set: {} items cannot be drawn from an empty one", size));
  }
  std::vector<std::size_t> indices;
  indices.reserve(size);
  if (replacement == Replacement::with) {
    Rng rng(seed);
    while (indices.size() < size) indices.push_back(rng.below(source_size));
  } else {
    for (std::uint64_t round = 0; indices.size() < size; ++round) {
      const auto order = permutation(source_size, Rng(seed, round));
      const auto count = std::min(order.size(), size - indices.size());
      indices.insert(indices.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  return indices;
}

std::vector<std::size_t> range(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

std::vector<std::size_t> pick(std::span<const std::size_t> from, std::span<const std::size_t> which) {
  std::vector<std::size_t> picked;
  picked.reserve(which.size());
  for (const auto index : which) {
    check_index(index, from.size());
    picked.push_back(from[index]);
  }
  return picked;
}

std::vector<std::size_t> pick_from_range(std::size_t begin, std::size_t end, std::span<const std::size_t> which) {
  std::vector<std::size_t> picked;
  picked.reserve(which.size());
  for (const auto index : which) {
    check_index(index, end - begin);
    picked.push_back(begin + index);
  }
  return picked;
}

std::vector<std::size_t> windows(std::span<const std::size_t> which, std::size_t starts, std::size_t size) {
  std::vector<std::size_t> indices;
  indices.reserve(which.size() * size);
  for (const auto start : which) {
    check_index(start, starts);
    for (std::size_t i = 0; i < size; ++i) indices.push_back(start + i);
  }
  return indices;
}

std::vector<std::pair<std::size_t, std::size_t>> even_ranges(std::size_t size, std::size_t parts) {
  if (parts == 0) throw Error(StatusCode::invalid_argument, "data set: cannot be split into 0 parts");
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::size_t begin = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t end = begin + size / parts + (part < size % parts ? 1 : 0);
    ranges.emplace_back(begin, end);
    begin = end;
  }
  return ranges;
}

void check_index(std::size_t index, std::size_t size) {
  if (index >= size) throw Error(StatusCode::out_of_range, fmt::format("data set: item {} of {}", index, size));
}

void check_count(std::size_t given, std::size_t wanted) {
  if (given == wanted) return;
  throw Error(StatusCode::internal, fmt::format("data set: get_many gave {} items for {} indices", given, wanted));
}

void check_present(const void* dataset) {
  if (dataset == nullptr) throw Error(StatusCode::invalid_argument, "data set: a null pointer is none");
}

void check_indices(std::span<const std::size_t> indices, std::size_t size) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= size) {
      throw Error(StatusCode::out_of_range,
                  fmt::format("data set: selection {} asks for item {} of {}", i, indices[i], size));
    }
  }
}

void check_range(std::size_t begin, std::size_t end, std::size_t size) {
  if (begin <= end && end <= size) return;
  throw Error(StatusCode::out_of_range, fmt::format("data set: no items {} to {} among {}", begin, end, size));
}

void check_window(std::size_t size) {
  if (size == 0) throw Error(StatusCode::invalid_argument, "data set: windows of 0 items");
}

}  // namespace burn::data
