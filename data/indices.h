// The index arithmetic of data sets and loaders, independent of their item types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace burn::data {

enum class Replacement { with, without };

std::vector<std::size_t> shuffled_indices(std::size_t size, std::uint64_t seed);
std::vector<std::size_t> sampled_indices(std::size_t source_size, std::size_t size, std::uint64_t seed,
                                         Replacement replacement);

// begin, ..., end - 1
std::vector<std::size_t> range(std::size_t begin, std::size_t end);

// from[which[0]], from[which[1]], ... Errors: OUT_OF_RANGE.
std::vector<std::size_t> pick(std::span<const std::size_t> from, std::span<const std::size_t> which);

// The same with `from` = begin, ..., end - 1.
std::vector<std::size_t> pick_from_range(std::size_t begin, std::size_t end, std::span<const std::size_t> which);

// For each start in `which`, the indices start, ..., start + size - 1, concatenated. Errors: OUT_OF_RANGE for a start
// of `starts` or more.
std::vector<std::size_t> windows(std::span<const std::size_t> which, std::size_t starts, std::size_t size);

// [0, size) divided into `parts` ranges whose lengths differ by at most one. Errors: 0 parts.
std::vector<std::pair<std::size_t, std::size_t>> even_ranges(std::size_t size, std::size_t parts);

// These throw an error that names the invalid numbers.
void check_indices(std::span<const std::size_t> indices, std::size_t size);
void check_range(std::size_t begin, std::size_t end, std::size_t size);
void check_window(std::size_t size);

}  // namespace burn::data
