#include "base/settings.h"

#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/fork.h"
#include "base/parse_number.h"

namespace burn {
namespace {

constexpr std::array kSettings{
#define SETTING(name, kind, variable, values, default, doc) \
  SettingInfo{SettingInfo::Kind::kind, variable, values, default, doc},
#include "base/settings.def"
#undef SETTING
};

struct Overrides {
  Overrides() { lock_last_during_fork(mutex); }

  std::mutex mutex;
  std::map<Setting, std::string> texts;
};

Overrides& overrides() {
  static auto& all = *new Overrides;  // never destroyed: threads may read it while the process ends
  return all;
}

const SettingInfo& info(Setting which) { return kSettings[static_cast<std::size_t>(which)]; }

// Whether `text` is one of the alternatives in `values`, such as "this or that or those".
bool is_among(std::string_view values, std::string_view text) {
  constexpr std::string_view kOr = " or ";
  for (auto end = values.find(kOr); end != values.npos; end = values.find(kOr)) {
    if (text == values.substr(0, end)) return true;
    values.remove_prefix(end + kOr.size());
  }
  return text == values;
}

bool is_understood(const SettingInfo& row, std::string_view text) {
  switch (row.kind) {
    case SettingInfo::Kind::choice:
      return is_among(row.values, text) || text == row.fallback || text == "on";
    case SettingInfo::Kind::number:
      return parse_number<std::uint64_t>(text).has_value();
    case SettingInfo::Kind::folder:
    case SettingInfo::Kind::text:
      return true;
  }
  return false;
}

std::string format(std::string_view before, std::string_view text, std::string_view after) {
  return std::string{before}.append(text).append(after);
}

}  // namespace

std::span<const SettingInfo> settings() { return kSettings; }

std::string setting(Setting which) {
  {
    auto& all = overrides();
    const std::lock_guard lock{all.mutex};
    if (const auto found = all.texts.find(which); found != all.texts.end()) return found->second;
  }
  const char* text = std::getenv(info(which).variable.data());  // NOLINT(concurrency-mt-unsafe): no thread writes it
  return text ? text : "";
}

bool is_off(Setting which) { return setting(which) == "off"; }
bool is_on(Setting which) { return setting(which) == "on"; }

std::optional<std::uint64_t> numeric_setting(Setting which) { return parse_number<std::uint64_t>(setting(which)); }

void override_setting(Setting which, std::string text) {
  auto& all = overrides();
  const std::lock_guard lock{all.mutex};
  all.texts[which] = std::move(text);
}

Status check_settings() {
  for (std::size_t i = 0; i < kSettings.size(); ++i) {
    const auto& row = kSettings[i];
    const auto text = setting(static_cast<Setting>(i));
    if (text.empty() || is_understood(row, text)) continue;
    return invalid_argument(format(row.variable, "=", text) + format(": it may be ", row.values, ", or not set (") +
                            format("", row.fallback, ")"));
  }
  return {};
}

std::string cache_folder() {
  if (const auto chosen = setting(Setting::cache_home); !chosen.empty()) return chosen + "/burn";
  const auto home = setting(Setting::home);
  return home.empty() ? "" : home + "/.cache/burn";
}

std::string settings_help() {
  std::string text = "Environment, of clients too:\n";
  for (const auto& row : kSettings) {
    text += format("  ", row.variable, "=") + format("", row.values, "\n      ");
    text += format("", row.doc, "; not set: ") + format("", row.fallback, "\n");
  }
  return text;
}

std::string settings_markdown() {
  std::string text =
      "# Settings\n\nEnvironment variables that clients and workers read. Opening a device with a value that is not "
      "understood is an error.\nPrinted from `base/settings.def` (`BURN_UPDATE_DOCS=1 build/bin/test_base`).\n\n"
      "| variable | values | not set | meaning |\n| --- | --- | --- | --- |\n";
  for (const auto& row : kSettings) {
    text += format("| `", row.variable, "` | ") + format("", row.values, " | ");
    text += format("", row.fallback, " | ") + format("", row.doc, " |\n");
  }
  return text;
}

}  // namespace burn
