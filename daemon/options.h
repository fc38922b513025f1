// The options of the daemons: the table daemon/options.def, and the values that a process was given. Command lines,
// --help and the code that uses an option all read this table.
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
  When when;  // when a change takes effect
  Kind kind;
  std::string_view fallback;  // the default value, as text; empty: not set
  std::uint64_t min, max;     // of count, bytes and seconds
  std::string_view help;
};

std::span<const OptionInfo> options();  // in the order of Option
const OptionInfo& info(Option option);
bool has_option(Daemon daemon, Option option);
// True for options that only a command line can set: actions other than serving, and the path of the file of options.
bool is_of_command_line(Option option);
// What a value looks like, for --help: "SECONDS"; empty for flags.
std::string_view placeholder(OptionInfo::Kind kind);

// Parses a number of a kind (count, bytes, seconds) as a user would write it: "512M". std::nullopt if it is not a
// number.
std::optional<std::uint64_t> parse_number_of(OptionInfo::Kind kind, std::string_view text);

// Holds a value for each option: the default until set() is called.
class OptionValues {
 public:
  // The number of options.
  static constexpr std::size_t kCount = 0
#define OPTION(name, flag, daemons, when, kind, fallback, min, max, help) +1
#include "daemon/options.def"
#undef OPTION
      ;

  OptionValues();

  // Sets the value; for a list, appends `text`; for a flag, `text` is "true" or "false". Errors, after which the value
  // is unchanged: INVALID_ARGUMENT for a text that is not a value of the option's kind, OUT_OF_RANGE for a number
  // outside its range.
  Status set(Option option, std::string_view text);
  // Copies the value of `other`, and its origin.
  void take(Option option, const OptionValues& other) {
    values_[static_cast<std::size_t>(option)] = other.values_[static_cast<std::size_t>(option)];
    origins_[static_cast<std::size_t>(option)] = other.origins_[static_cast<std::size_t>(option)];
  }
  // Resets the value: to an empty list, or to the default.
  void reset(Option option);

  // Where the value comes from: "default" until set_origin() is called.
  const std::string& origin(Option option) const { return origins_[static_cast<std::size_t>(option)]; }
  void set_origin(Option option, std::string_view origin) { origins_[static_cast<std::size_t>(option)] = origin; }

  // The value in TOML: "30", "\"cpu\"", "[\"a\", \"b\"]"; durations in seconds. Empty if it is not set.
  std::string to_toml(Option option) const;

  // True if there is a value; for a flag, if it is true; for an address, if it is not off.
  bool is_set(Option option) const;
  // The value. Requires: the option has that kind; for number() and duration() also that it is set.
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
