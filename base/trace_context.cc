#include "base/trace_context.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <random>

#include "base/fork.h"
#include "base/one_line.h"

namespace burn {
namespace {

constexpr std::size_t kIdDigits = 16;  // of 8 bytes
constexpr std::uint64_t kSampled = 1;  // of the flags

// Parses all of `digits` as a number in lower-case hexadecimal digits, as W3C requires.
std::optional<std::uint64_t> read_hex(std::string_view digits) {
  constexpr int kHex = 16;
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, kHex);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

void append_hex(std::string& text, std::uint64_t number, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kBits = 4;
  for (std::size_t k = digits; k-- > 0;) text += kDigits[(number >> (k * kBits)) & 0xf];
}

}  // namespace

Result<TraceContext> parse_traceparent(std::string_view text) {
  // Where each part begins, and how long it is: version, trace id in two halves, span id, flags.
  struct Part {
    std::size_t begin, digits;
  };
  constexpr std::array<Part, 5> kParts{{{0, 2}, {3, kIdDigits}, {19, kIdDigits}, {36, kIdDigits}, {53, 2}}};
  constexpr std::size_t kSize = 55, kFutureVersion = 0xff;
  const auto fails = [&](std::string_view why) {
    return invalid_argument("traceparent " + quoted(text) + ": " + std::string{why});
  };
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-')
    return fails("it is VERSION-TRACE-SPAN-FLAGS, of 2, 32, 16 and 2 hexadecimal digits");
  std::array<std::uint64_t, kParts.size()> numbers{};
  for (std::size_t k = 0; k < kParts.size(); ++k) {
    const auto number = read_hex(text.substr(kParts[k].begin, kParts[k].digits));
    if (!number) return fails("its parts are lower-case hexadecimal digits");
    numbers[k] = *number;
  }
  const auto [version, high, low, span, flags] = numbers;
  if (version == kFutureVersion) return fails("there is no version ff");
  if (text.size() > kSize && (version == 0 || text[kSize] != '-')) return fails("there is more behind the flags");
  const TraceContext context{.trace_high = high, .trace_low = low, .span = span, .is_sampled = (flags & kSampled) != 0};
  if (!context.exists()) return fails("ids are not 0");
  return context;
}

std::string to_traceparent(const TraceContext& context) {
  std::string text = "00-";
  append_hex(text, context.trace_high, kIdDigits);
  append_hex(text, context.trace_low, kIdDigits);
  text += '-';
  append_hex(text, context.span, kIdDigits);
  text += context.is_sampled ? "-01" : "-00";
  return text;
}

std::uint64_t new_span_id() {
  // std::random_device takes many microseconds where the processor's instruction is emulated.
  thread_local std::optional<std::mt19937_64> random;
  thread_local std::uint32_t forks = 0;
  if (!random || forks != fork_count()) {  // the child of a fork() must not repeat its parent's ids
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    random.emplace(seed);
    forks = fork_count();
  }
  return std::max<std::uint64_t>((*random)(), 1);
}

TraceContext new_trace() { return {.trace_high = new_span_id(), .trace_low = new_span_id(), .is_sampled = true}; }

}  // namespace burn
