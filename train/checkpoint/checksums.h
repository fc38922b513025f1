// Checksums of the files of a folder, in a file next to them, to detect changes by a disk, a copy or a power cut before
// the files are used. They protect against accidents, not against attackers. Private to train/checkpoint.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace burn::train {

// Writes "checksums": a line "HASH SIZE NAME" (XXH3, 64 bits in hexadecimal; bytes) for each of the files.
void write_checksums(const std::filesystem::path& folder, std::span<const std::string> files);

// Errors (thrown): DATA_LOSS, naming the file and what differs. A folder without the file "checksums" (written by an
// older version) is not checked.
void check_checksums(const std::filesystem::path& folder);

}  // namespace burn::train
