// The options of the daemons: the table daemon/options.def, and the values that a process was given for it. Command
// lines, --help and what a daemon does with an option all read this table.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace burn::daemon {

enum class Option : std::uint8_t {
#define OPTION(name, flag, daemons, when, kind, fallback, min, max, help) name,
#include "daemon/options.def"
#undef OPTION
};

// Daemons, and sets of them.
enum class Daemon : std::uint8_t { worker = 1, router = 2, every = 3 };

struct OptionInfo {
  enum class Kind : std::uint8_t { text, path, list, flag, address, count, bytes, seconds, fractional_seconds };

  enum class When : std::uint8_t { start, reload };

  Option option;
  std::string_view flag;  // "session-lease"
  Daemon daemons;
  When when;  // a change is taken over
  Kind kind;
  std::string_view fallback;  // the default, as written; empty: not set
  std::uint64_t min, max;     // of count, bytes and seconds
  std::string_view help;
};

std::span<const OptionInfo> options();  // in the order of Option
const OptionInfo& info(Option option);
bool has_option(Daemon daemon, Option option);
// Whether it is for command lines alone: what the program does instead of serving, and where its file of options is.
bool is_of_command_line(Option option);
// What a value looks like, for --help: "SECONDS"; empty for flags.
std::string_view placeholder(OptionInfo::Kind kind);

// A number of a kind (count, bytes, seconds) as one would write it: "512M". Nothing for what is none.
std::optional<std::uint64_t> parse_number_of(OptionInfo::Kind kind, std::string_view text);

// A value for each option: its default until set.
class OptionValues {
 public:
  // Options that there are.
  static constexpr std::size_t kCount = 0
#define OPTION(name, flag, daemons, when, kind, fallback, min, max, help) +1
#include "daemon/options.def"
#undef OPTION
      ;

  OptionValues();

  // For a list: adds `text` to it. For a flag: "true" or "false". Errors, after which the value is what it was:
  // INVALID_ARGUMENT for a text that is no value of the option's kind, OUT_OF_RANGE for a number beyond its range.
  Status set(Option option, std::string_view text);
  // The value that `other` has, and its origin.
  void take(Option option, const OptionValues& other) {
    values_[static_cast<std::size_t>(option)] = other.values_[static_cast<std::size_t>(option)];
    origins_[static_cast<std::size_t>(option)] = other.origins_[static_cast<std::size_t>(option)];
  }
  // As it is without any source: a list is empty, others have their default.
  void reset(Option option);

  // Where the value comes from: "default" until it is said.
  const std::string& origin(Option option) const { return origins_[static_cast<std::size_t>(option)]; }
  void set_origin(Option option, std::string_view origin) { origins_[static_cast<std::size_t>(option)] = origin; }

  // The value as TOML has it: "30", "\"cpu\"", "[\"a\", \"b\"]"; durations in seconds. Empty where there is none.
  std::string to_toml(Option option) const;

  // Whether there is a value; of a flag, whether it is true; of an address, whether it is not off.
  bool is_set(Option option) const;
  // The value. Requires: of that kind; number() and duration() also that it is set.
  const std::string& text(Option option) const;               // text, path; address: empty for off
  const std::vector<std::string>& list(Option option) const;  // list
  std::uint64_t number(Option option) const;                  // count; bytes
  std::chrono::milliseconds duration(Option option) const;    // seconds; fractional_seconds, rounded up

 private:
  using Value = std::variant<std::monostate, bool, std::uint64_t, std::chrono::milliseconds, std::string,
                             std::vector<std::string>>;

  static Result<Value> parse(const OptionInfo& info, std::string_view text);

  std::array<Value, kCount> values_;
  std::array<std::string, kCount> origins_;
};

}  // namespace burn::daemon
