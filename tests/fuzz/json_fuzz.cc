// Untrusted JSON: a configuration and the header of a safetensors file. Either is refused, or says the same when
// it is written and read again.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "nn/module/config.h"
#include "store/safetensors_json.h"

namespace {

struct Inner {
  std::int64_t size = 3;
  double rate = 0.5;
  bool is_on = false;
  BURN_CONFIG(Inner, size, rate, is_on)
};

struct Outer {
  std::string name = "x";
  Inner inner;
  std::vector<Inner> layers;
  std::array<std::int64_t, 2> kernel = {3, 3};
  std::optional<double> limit;
  BURN_CONFIG(Outer, name, inner, layers, kernel, limit)
};

void read_config(std::string_view text) {
  std::string written;
  try {
    written = Outer::from_json(text).to_json();
  } catch (const burn::Error&) {
    return;
  }
  if (Outer::from_json(written).to_json() != written) std::abort();  // an Error here ends the program, too
}

void read_header(std::string_view text) {
  const auto header = burn::store::parse_header_json(text);
  if (!header.ok()) return;
  const auto written = burn::store::format_header_json(*header);
  const auto again = burn::store::parse_header_json(written);
  if (!again.ok() || burn::store::format_header_json(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  read_config(text);
  read_header(text);
  return 0;
}
