// Whole files in and out of memory. Functions without state; safe from any thread.
#pragma once

#include <filesystem>
#include <span>

#include "base/bytes.h"

namespace burn::store {

// The contents, aligned for every element type. A copy, not a mapping: what happens to the file later cannot harm the
// reader. Errors: NOT_FOUND or UNAVAILABLE naming the file and the system's reason.
SharedBytes read_file(const std::filesystem::path& path);

// Makes `path` hold the concatenated parts: afterwards there is either the whole new file or the old one, also when the
// machine stops in between. Writes beside `path` first, hence needs room for both. Errors: UNAVAILABLE naming the file
// and the system's reason.
void write_file(const std::filesystem::path& path, std::span<const std::span<const std::byte>> parts);

}  // namespace burn::store
