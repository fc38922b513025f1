// The JSON of a safetensors header, read and written. Private to store/.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "store/safetensors.h"

namespace burn::store {

// Checks the form (fields, types, duplicates), but not the offsets; data_start stays 0. Memory use is proportional to
// the size of the text.
Result<SafetensorsHeader> parse_header_json(std::string_view text);

std::string format_header_json(const SafetensorsHeader& header);

std::string safetensors_name(ir::DType dtype);  // "F32"

}  // namespace burn::store
