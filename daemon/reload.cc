#include "daemon/reload.h"

#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "daemon/certificate_log.h"
#include "daemon/log.h"
#include "daemon/previous_config.h"

namespace burn::daemon {
namespace {

const std::string kCause = fmt::format("signal {}", SIGHUP);

bool has_changed(Option option, const OptionValues& before, const OptionValues& after) {
  return before.to_toml(option) != after.to_toml(option);
}

std::string changed(OptionInfo::When when, const OptionValues& before, const OptionValues& after) {
  std::string names;
  for (const auto& row : options()) {
    if (row.when != when || is_of_command_line(row.option) || !has_changed(row.option, before, after)) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.flag);
  }
  return names;
}

}  // namespace

std::string changed_start_options(const OptionValues& before, const OptionValues& after) {
  return changed(OptionInfo::When::start, before, after);
}

Status Reload::read(std::optional<OptionValues>& next) {
  if (options_) {
    auto values = options_.read();
    if (!values.ok()) {
      ++service_.reloads().config_refused;
      return values.status();
    }
    if (const auto& level = values->text(Option::log_level); !is_log_level(level)) {
      ++service_.reloads().config_refused;
      return invalid_argument(fmt::format("log-level: trace, debug, info, warning, error or off, not {}", level));
    }
    if (const auto& format = values->text(Option::log_format); !is_log_format(format)) {
      ++service_.reloads().config_refused;
      return invalid_argument(fmt::format("log-format: text or json, not {}", format));
    }
    next = *std::move(values);
  }
  std::string_view what;
  auto files = service_.check_files(&what);
  if (!files.ok())
    ++(what == "credentials" ? service_.reloads().credentials_refused : service_.reloads().certificate_refused);
  return files;
}

// Saves the text in effect also if the new one is refused: a rollback must restore the text in effect.
void Reload::keep_text(bool is_accepted) {
  if (options_.config.empty()) return;
  auto text = read_config(options_.config);
  if (!text.ok()) return;
  const bool is_new = *text != options_.last_text;
  options_.last_text = *text;
  if (*text == options_.active_text) return;
  if (is_new) {
    const auto status = write_config(options_.previous_path, options_.active_text);
    status.ok() ? log_info(fmt::format("the options that held are kept in {}", options_.previous_path))
                : log_warning(fmt::format("the options that held are not kept: {}", status.message()));
  }
  if (is_accepted) options_.active_text = *std::move(text);
}

void Reload::apply(const OptionValues& next) {
  const auto& before = options_.values;
  // Level and format were checked when the options were read.
  if (has_changed(Option::log_level, before, next)) (void)set_log_level(next.text(Option::log_level));
  if (has_changed(Option::log_format, before, next)) (void)set_log_format(next.text(Option::log_format));
  service_.change(next);
  host_.change(next);
  ++service_.reloads().config;
  const auto taken = changed(OptionInfo::When::reload, before, next);
  if (!taken.empty()) log_info(fmt::format("{}: new values hold for {}", kCause, taken));
  const auto left = changed_start_options(before, next);
  if (!left.empty()) log_warning(fmt::format("{}: the new values of {} need a restart", kCause, left));
  // Start options keep their old values, so that the next reload reports them again.
  auto kept = next;
  for (const auto& row : options()) {
    if (row.when == OptionInfo::When::start) kept.take(row.option, before);
  }
  options_.values = std::move(kept);
}

Status Reload::run() {
  std::optional<OptionValues> next;
  auto status = read(next);
  keep_text(status.ok());
  if (!status.ok()) {
    log_warning(fmt::format("{}: all stays as it was: {}", kCause, status.message()));
    if (auto* log = host_.audit_log()) log->write("reload", status.message());
    return status;
  }
  // From here on, a file may have changed since it was checked: then that part keeps its old state and logs the error.
  if (next) apply(*next);
  status = service_.reload_credentials();
  status.ok() ? log_info(fmt::format("{}: tokens and tenants are read again", kCause))
              : log_warning(fmt::format("{}: tokens and tenants stay what they were: {}", kCause, status.message()));
  if (const auto* tls = service_.tls()) {
    const auto read = service_.reload_certificate();
    log_certificate(*tls, read, kCause);
    if (status.ok()) status = read;
  }
  auto* log = host_.audit_log();
  if (!log) return status;
  log->write("reload", status.ok() ? "ok" : status.message());
  const auto opened = log->open();
  opened.ok() ? log_info("the audit log is opened again") : log_warning(opened.message());
  return status.ok() ? opened : status;
}

}  // namespace burn::daemon
