// Fetching data sets from the network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace burn::data {

// Downloads to `path` from the first of the URLs that yields `bytes` bytes; creates its folder if needed. The file
// appears under its name only when it is complete. Thread-safe. Errors: UNAVAILABLE with every URL and its failure.
void download_file(std::span<const std::string> urls, const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace burn::data
