// The JSON of a safetensors header, read and written. Private to store/.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "store/safetensors.h"

namespace burn::store {

// Checks the form (fields, types, duplicates) but not whether the offsets make sense; data_start stays 0.
// Takes memory in proportion to the text, whatever it says.
Result<SafetensorsHeader> parse_header_json(std::string_view text);

std::string format_header_json(const SafetensorsHeader& header);

std::string safetensors_name(ir::DType dtype);  // "F32"

}  // namespace burn::store
