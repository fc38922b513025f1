// Events as bytes: the payloads of the records of an event file. Little-endian; whole numbers as variable-length
// integers (zigzag, seven bits a byte), floats as eight bytes, texts and lists after their length.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "train/events/event.h"

namespace burn::train::events {

std::string encode(const Event& event);
// Nothing for a kind of event that this version does not know. Fields that the bytes lack, as older versions wrote
// them, keep their defaults; bytes after the last field are left. Errors (thrown): DATA_LOSS for bytes that encode()
// cannot have written.
std::optional<Event> decode(std::string_view bytes);

// The polynomial of Castagnoli (CRC-32C), which TensorBoard's files have, too. `more`: bytes that follow.
std::uint32_t crc32c(std::string_view bytes, std::string_view more = {});

void put_u32(std::string& bytes, std::uint32_t value);  // little-endian
void put_u64(std::string& bytes, std::uint64_t value);  // little-endian
std::uint32_t get_u32(std::string_view bytes);          // Requires: four bytes
void put_varint(std::string& bytes, std::uint64_t value);

}  // namespace burn::train::events
