// Checksums of the files of a folder, in a file beside them: what a disk, a copy or a power cut has changed is found
// before it is trusted. They guard against accidents, not against people. Private to train/checkpoint.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace burn::train {

// Writes "checksums": a line "HASH SIZE NAME" (XXH3, 64 bits in hexadecimal; bytes) for each of the files.
void write_checksums(const std::filesystem::path& folder, std::span<const std::string> files);

// Errors (thrown): DATA_LOSS, naming the file and what differs. A folder without the file "checksums" (written by an
// older version) is taken as it is.
void check_checksums(const std::filesystem::path& folder);

}  // namespace burn::train
