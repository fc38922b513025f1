#include "daemon/options.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/one_line.h"
#include "base/overloaded.h"

namespace burn::daemon {
namespace {

using Kind = OptionInfo::Kind;

constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 24, kMaxBytes = std::uint64_t{1} << 60;

constexpr OptionInfo kOptions[] = {
#define OPTION(name, flag, daemons, when, kind, fallback, min, max, help) \
  {Option::name, flag, Daemon::daemons, OptionInfo::When::when, Kind::kind, fallback, min, max, help},
#include "daemon/options.def"
#undef OPTION
};

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) return std::nullopt;
  return number;
}

// "512", "512M", "512MiB": units of 1024.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto unit_at = text.find_first_not_of("0123456789");
  if (unit_at == std::string_view::npos) return parse_whole(text);
  std::string unit;
  for (const char letter : text.substr(unit_at))
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  const auto number = parse_whole(text.substr(0, unit_at));
  if (!number) return std::nullopt;
  if (unit == "b") return number;
  constexpr std::string_view kPrefixes = "kmgtpe";
  const auto power = kPrefixes.find(unit.front());
  const auto after = std::string_view{unit}.substr(1);
  if (power == std::string_view::npos || (!after.empty() && after != "b" && after != "ib")) return std::nullopt;
  const auto shift = 10 * (power + 1);
  if (*number > std::numeric_limits<std::uint64_t>::max() >> shift) return std::numeric_limits<std::uint64_t>::max();
  return *number << shift;
}

std::optional<double> parse_decimal(std::string_view text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || std::isnan(number)) return std::nullopt;
  return number;
}

Status not_a(std::string_view what, std::string_view text) {
  return invalid_argument(fmt::format("\"{}\" is not {}", text, what));
}

template <typename Number>
Status check_range(const OptionInfo& info, Number number) {
  if (number >= static_cast<Number>(info.min) && number <= static_cast<Number>(info.max)) return {};
  return {StatusCode::out_of_range, fmt::format("{} is not in the range from {} to {}", number, info.min, info.max)};
}

}  // namespace

std::span<const OptionInfo> options() { return kOptions; }
const OptionInfo& info(Option option) { return kOptions[static_cast<std::size_t>(option)]; }

std::optional<std::uint64_t> parse_number_of(Kind kind, std::string_view text) {
  return kind == Kind::bytes ? parse_bytes(text) : parse_whole(text);
}

bool has_option(Daemon daemon, Option option) {
  return (static_cast<unsigned>(info(option).daemons) & static_cast<unsigned>(daemon)) != 0;
}

bool is_of_command_line(Option option) {
  return option == Option::config || option == Option::print_config || option == Option::check_config ||
         option == Option::rollback || option == Option::check;
}

std::string_view placeholder(Kind kind) {
  switch (kind) {
    case Kind::text:
    case Kind::list:
      return "TEXT";
    case Kind::path:
      return "PATH";
    case Kind::address:
      return "ADDRESS";
    case Kind::count:
      return "COUNT";
    case Kind::bytes:
      return "BYTES";
    case Kind::seconds:
    case Kind::fractional_seconds:
      return "SECONDS";
    case Kind::flag:
      return "";
  }
  return "";
}

OptionValues::OptionValues() {
  for (const auto& row : kOptions) reset(row.option);
  origins_.fill("default");
}

void OptionValues::reset(Option option) {
  const auto& row = info(option);
  auto& value = values_[static_cast<std::size_t>(option)];
  value = std::monostate{};
  if (row.kind == Kind::flag) value = false;
  if (row.kind == Kind::list) value = std::vector<std::string>{};
  if (row.kind == Kind::text || row.kind == Kind::path || row.kind == Kind::address) value = std::string{};
  if (!row.fallback.empty()) throw_if_error(set(option, row.fallback));
}

Status OptionValues::set(Option option, std::string_view text) {
  const auto& row = info(option);
  auto& value = values_[static_cast<std::size_t>(option)];
  BURN_TRY(auto parsed, parse(row, text));
  if (row.kind == Kind::list) {
    std::get<std::vector<std::string>>(value).push_back(std::get<std::string>(std::move(parsed)));
  } else {
    value = std::move(parsed);
  }
  return {};
}

Result<OptionValues::Value> OptionValues::parse(const OptionInfo& info, std::string_view text) {
  switch (info.kind) {
    case Kind::text:
    case Kind::path:
    case Kind::list:
      return Value{std::string{text}};
    case Kind::address:
      return Value{std::string{text == "off" ? "" : text}};
    case Kind::flag:
      if (text != "true" && text != "false") return not_a("true or false", text);
      return Value{text == "true"};
    case Kind::count:
    case Kind::bytes:
    case Kind::seconds: {
      const auto number = parse_number_of(info.kind, text);
      if (!number)
        return not_a(info.kind == Kind::bytes ? "a number of bytes, as 1000 or 512M" : "a whole number", text);
      BURN_RETURN_IF_ERROR(check_range(info, *number));
      if (info.kind != Kind::seconds) return Value{*number};
      return Value{std::chrono::milliseconds{std::chrono::seconds{*number}}};
    }
    case Kind::fractional_seconds: {
      const auto number = parse_decimal(text);
      if (!number) return not_a("a number", text);
      BURN_RETURN_IF_ERROR(check_range(info, *number));
      return Value{std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(*number * 1e3))}};
    }
  }
  return internal_error("an option of no kind");
}

std::string OptionValues::to_toml(Option option) const {
  const auto quote = [](const std::string& text) { return quoted(text, std::numeric_limits<std::size_t>::max()); };
  return std::visit(
      Overloaded{
          [](std::monostate) { return std::string{}; },
          [](bool is) { return std::string{is ? "true" : "false"}; },
          [](std::uint64_t number) { return fmt::format("{}", number); },
          [](std::chrono::milliseconds time) { return fmt::format("{}", std::chrono::duration<double>(time).count()); },
          [&](const std::string& text) { return quote(text); },
          [&](const std::vector<std::string>& texts) {
            std::string all;
            for (const auto& text : texts) all += fmt::format("{}{}", all.empty() ? "" : ", ", quote(text));
            return fmt::format("[{}]", all);
          },
      },
      values_[static_cast<std::size_t>(option)]);
}

bool OptionValues::is_set(Option option) const {
  const auto& value = values_[static_cast<std::size_t>(option)];
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return !list->empty();
  return !std::holds_alternative<std::monostate>(value);
}

const std::string& OptionValues::text(Option option) const {
  return std::get<std::string>(values_[static_cast<std::size_t>(option)]);
}

const std::vector<std::string>& OptionValues::list(Option option) const {
  return std::get<std::vector<std::string>>(values_[static_cast<std::size_t>(option)]);
}

std::uint64_t OptionValues::number(Option option) const {
  return std::get<std::uint64_t>(values_[static_cast<std::size_t>(option)]);
}

std::chrono::milliseconds OptionValues::duration(Option option) const {
  return std::get<std::chrono::milliseconds>(values_[static_cast<std::size_t>(option)]);
}

}  // namespace burn::daemon
