// What the environment may change, read in one place. The table is base/settings.def; `burn-server --help` and
// docs/settings.md are printed from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn {

enum class Setting : std::uint8_t {
#define SETTING(name, kind, variable, values, default, doc) name,
#include "base/settings.def"
#undef SETTING
};

struct SettingInfo {
  enum class Kind : std::uint8_t { choice, number, folder, text };

  Kind kind;
  std::string_view variable;  // "BURN_FUSION"
  std::string_view values;    // "off"
  std::string_view fallback;  // what holds where it is not set
  std::string_view doc;
};

std::span<const SettingInfo> settings();  // in the order of Setting

// The text that was set, by override_setting() or else in the environment; empty where there is none. Reads the
// environment at each call: a caller that needs it often keeps the answer. Thread-safe as long as no thread writes the
// environment.
std::string setting(Setting which);
bool is_off(Setting which);                                   // set to "off"
bool is_on(Setting which);                                    // set to "on"
std::optional<std::uint64_t> numeric_setting(Setting which);  // nullopt: not set, or no number
// Takes the place of the variable in this process: a command-line option. Thread-safe.
void override_setting(Setting which, std::string text);
// Whether everything that is set can be understood. Asked when a device is opened, so that a mistyped value is not
// silently the default. Errors: INVALID_ARGUMENT with the variable, its text and what it may be.
Status check_settings();

// The folder in which choices of kernels and compiled kernels are kept; empty where there is no home.
std::string cache_folder();

std::string settings_help();      // lines for --help
std::string settings_markdown();  // the text of docs/settings.md

}  // namespace burn
