// Settings from environment variables, all read here. The table is base/settings.def; `burn-server --help` and
// docs/settings.md are generated from it.
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
  std::string_view fallback;  // the default, in words
  std::string_view doc;
};

std::span<const SettingInfo> settings();  // in the order of Setting

// The setting's text, from override_setting() or else the environment; empty if not set. Reads the environment at each
// call, so frequent callers should keep the result. Thread-safe as long as no thread writes the environment.
std::string setting(Setting which);
bool is_off(Setting which);                                   // set to "off"
bool is_on(Setting which);                                    // set to "on"
std::optional<std::uint64_t> numeric_setting(Setting which);  // nullopt: not set or not a number
// Overrides the variable in this process, for a command-line option. Thread-safe.
void override_setting(Setting which, std::string text);
// Checks that every setting has a valid value. Called when a device is opened, so that a mistyped value is not silently
// ignored. Errors: INVALID_ARGUMENT with the variable, its text and the valid values.
Status check_settings();

// The folder for choices of kernels and compiled kernels; empty if no home folder is set.
std::string cache_folder();

std::string settings_help();      // lines for --help
std::string settings_markdown();  // the text of docs/settings.md

}  // namespace burn
