// Encodes events as payloads for the records of an event file. Little-endian; whole numbers are variable-length
// integers (zigzag, seven bits per byte), floats take eight bytes, texts and lists are preceded by their length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "train/events/event.h"

namespace burn::train::events {

std::string encode(const Event& event);
// Returns std::nullopt for an unknown kind of event. Fields that are missing, as in files of older versions, keep their
// defaults; bytes after the last field are ignored. Errors (thrown): DATA_LOSS for bytes that encode() cannot have
// written.
std::optional<Event> decode(std::string_view bytes);

// CRC-32C (Castagnoli), which TensorBoard's files use, too. `more`: bytes that follow `bytes`.
std::uint32_t crc32c(std::string_view bytes, std::string_view more = {});

void put_u32(std::string& bytes, std::uint32_t value);  // little-endian
void put_u64(std::string& bytes, std::uint64_t value);  // little-endian
std::uint32_t get_u32(std::string_view bytes);          // Requires: four bytes
void put_varint(std::string& bytes, std::uint64_t value);

}  // namespace burn::train::events
