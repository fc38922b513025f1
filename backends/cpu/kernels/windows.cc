#include "backends/cpu/kernels/windows.h"

#include <algorithm>

#include <fmt/format.h>

namespace burn::backends::cpu {
namespace {

constexpr std::int64_t kMaxWindows = 1 << 24;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Fills the last dims from make(spatial dim, output position); the dims before stay a single window of one element.
template <typename Make>
Result<Windows> make_windows(const ir::Shape& input, const ir::Shape& output, const Make& make) {
  Windows windows;
  const int spatial = input.rank() - 2;
  for (int dim = 0; dim < 3; ++dim) {
    auto& list = windows.by_dim[static_cast<std::size_t>(dim)];
    const int i = dim - (3 - spatial);
    if (i < 0) {
      list.emplace_back();
      continue;
    }
    windows.input[static_cast<std::size_t>(dim)] = input[i + 2];
    if (output[i + 2] > kMaxWindows) {
      return resource_exhausted(
          fmt::format("{} windows in one dim, at most {} are possible", output[i + 2], kMaxWindows));
    }
    list.reserve(static_cast<std::size_t>(output[i + 2]));
    for (std::int64_t at = 0; at < output[i + 2]; ++at) list.push_back(make(i, at));
  }
  return windows;
}

}  // namespace

Result<Windows> sliding_windows(const ir::AvgPool& op, const ir::Shape& input, const ir::Shape& output) {
  return make_windows(input, output, [&](int i, std::int64_t at) {
    const auto size = input[i + 2], start = at * op.stride[i] - op.padding[i];
    const auto begin = std::max<std::int64_t>(start, 0), end = std::min(start + op.kernel[i], size);
    const auto padded = std::min(start + op.kernel[i], size + op.padding[i]) - start;
    return Window{begin, end, 1, op.count_include_pad ? padded : end - begin};
  });
}

Result<Windows> sliding_windows(const ir::MaxPool& op, const ir::Shape& input, const ir::Shape& output) {
  return make_windows(input, output, [&](int i, std::int64_t at) {
    const auto step = op.dilation[i], start = at * op.stride[i] - op.padding[i];
    const auto begin = start < 0 ? start + divide_up(-start, step) * step : start;
    return Window{begin, std::min(start + (op.kernel[i] - 1) * step + 1, input[i + 2]), step};
  });
}

Result<Windows> adaptive_windows(const ir::Shape& input, const ir::Shape& output) {
  return make_windows(input, output, [&](int i, std::int64_t at) {
    const auto in = input[i + 2], out = output[i + 2];
    const auto begin = at * in / out, end = divide_up((at + 1) * in, out);
    return Window{begin, end, 1, end - begin};
  });
}

}  // namespace burn::backends::cpu
