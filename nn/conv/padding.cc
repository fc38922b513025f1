#include "nn/conv/padding.h"

#include <algorithm>

#include "nn/module/checks.h"

namespace burn::nn::detail {

void check_padding(const char* config, const std::string& kind, std::span<const std::int64_t> begin,
                   std::span<const std::int64_t> end) {
  if (kind != "valid" && kind != "same" && kind != "explicit") {
    reject(config, "there is no padding \"" + kind + "\"; there are: valid, same, explicit");
  }
  check_at_least(config, "padding.begin", begin, 0);
  check_at_least(config, "padding.end", end, 0);
}

Padding resolve_padding(const std::string& kind, std::span<const std::int64_t> begin, std::span<const std::int64_t> end,
                        const ir::Shape& x, const Windows& windows) {
  if (kind == "explicit") return {ir::Dims{begin}, ir::Dims{end}};
  const auto spatial = static_cast<int>(begin.size());
  Padding padding{ir::Dims::filled(spatial, 0), ir::Dims::filled(spatial, 0)};
  if (kind != "same") return padding;
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto size = x[i + 2];
    const auto extent = windows.dilation[at] * (windows.kernel[at] - 1) + 1;
    const auto out = (size + windows.stride[at] - 1) / windows.stride[at];
    const auto total = std::max<std::int64_t>(0, (out - 1) * windows.stride[at] + extent - size);
    padding.begin[i] = total / 2;
    padding.end[i] = total - total / 2;
  }
  return padding;
}

}  // namespace burn::nn::detail
