#include "daemon/option_source.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/one_line.h"
#include "daemon/toml.h"

namespace burn::daemon {
namespace {

using Kind = OptionInfo::Kind;

const OptionInfo* find(Daemon daemon, std::string_view flag) {
  for (const auto& row : options()) {
    if (row.flag == flag && has_option(daemon, row.option) && !is_of_command_line(row.option)) return &row;
  }
  return nullptr;
}

// Edit (Levenshtein) distance: the number of letters to change, insert or delete.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, changed}));
    }
  }
  return row.back();
}

// The value as it would be written on a command line; std::nullopt for a type that options cannot have.
std::optional<std::string> text_of(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* number = value.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* is = value.as_boolean()) return std::string{is->get() ? "true" : "false"};
  return std::nullopt;
}

Result<std::vector<std::string>> texts_of(const OptionInfo& row, const toml::node& value) {
  const auto* array = value.as_array();
  if (!array) {
    auto text = text_of(value);
    if (!text) return invalid_argument(fmt::format("{} takes no table, date or time", row.flag));
    return std::vector<std::string>{*std::move(text)};
  }
  if (row.kind != Kind::list) return invalid_argument(fmt::format("{} takes one value, not several", row.flag));
  std::vector<std::string> texts;
  for (const auto& element : *array) {
    auto text = text_of(element);
    if (!text) return invalid_argument(fmt::format("{} takes texts", row.flag));
    texts.push_back(*std::move(text));
  }
  return texts;
}

std::string place(const std::string& path, const toml::source_region& region) {
  return fmt::format("line {} of {}", region.begin.line, path);
}

Status at(const std::string& where, const std::string& what) {
  return invalid_argument(fmt::format("{}: {}", where, what));
}

}  // namespace

std::string_view nearest_option(Daemon daemon, std::string_view flag, bool with_command_line_only) {
  std::string_view best;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& row : options()) {
    if (!has_option(daemon, row.option) || (!with_command_line_only && is_of_command_line(row.option))) continue;
    const auto far = distance(flag, row.flag);
    if (far < least) best = row.flag, least = far;
  }
  return best;
}

Result<GivenOptions> parse_option_file(Daemon daemon, std::string_view text, const std::string& path) {
  const auto parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    return at(fmt::format("line {}, column {} of {}", error.source().begin.line, error.source().begin.column, path),
              one_line(error.description()));
  }
  GivenOptions given;
  for (const auto& [key, value] : parsed.table()) {
    const auto where = place(path, key.source());
    const auto* row = find(daemon, key.str());
    if (!row) {
      return at(where, fmt::format("there is no option {}; the nearest is \"{}\"", quoted(key.str()),
                                   nearest_option(daemon, key.str(), false)));
    }
    auto texts = texts_of(*row, value);
    if (!texts.ok()) return at(where, texts.status().message());
    given.push_back({row->option, *std::move(texts), where});
  }
  return given;
}

Result<GivenOptions> read_option_file(Daemon daemon, const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return invalid_argument(fmt::format("{} is a folder", path));
  std::ifstream file{path, std::ios::binary};
  if (!file) return not_found(fmt::format("{} cannot be read", path));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad()) return not_found(fmt::format("{} cannot be read", path));
  return parse_option_file(daemon, text, path);
}

std::string_view environment_prefix(Daemon daemon) {
  return daemon == Daemon::router ? "BURN_ROUTER_" : "BURN_SERVER_";
}

std::string environment_name(Daemon daemon, Option option) {
  std::string name{environment_prefix(daemon)};
  for (const char letter : info(option).flag) {
    name += letter == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return name;
}

EnvironmentOptions read_option_environment(Daemon daemon, const char* const* variables) {
  EnvironmentOptions read;
  for (; *variables; ++variables) {
    const std::string_view variable = *variables;
    const auto name = variable.substr(0, variable.find('='));
    if (!name.starts_with(environment_prefix(daemon)) || name.size() == variable.size()) continue;
    const auto row = std::ranges::find_if(options(), [&](const OptionInfo& each) {
      const bool may_be = !is_of_command_line(each.option) || each.option == Option::config;
      return may_be && has_option(daemon, each.option) && environment_name(daemon, each.option) == name;
    });
    if (row == options().end()) {
      read.unknown.emplace_back(name);
      continue;
    }
    std::string text{variable.substr(name.size() + 1)};
    if (row->kind == Kind::flag && (text == "1" || text == "0")) text = text == "1" ? "true" : "false";
    GivenOption given{row->option, {}, std::string{name}};
    if (row->kind == Kind::list) {
      std::istringstream words{text};
      for (std::string word; std::getline(words, word, ',');) given.texts.push_back(word);
    } else {
      given.texts.push_back(std::move(text));
    }
    read.given.push_back(std::move(given));
  }
  return read;
}

Status set_options(const GivenOptions& given, OptionValues& values) {
  for (const auto& each : given) {
    const auto& row = info(each.option);
    if (row.kind == Kind::list) values.reset(each.option);
    values.set_origin(each.option, each.origin);
    for (const auto& text : each.texts) {
      const auto status = values.set(each.option, text);
      if (!status.ok()) return status.with_context(fmt::format("{}: {}", each.origin, row.flag));
    }
  }
  return {};
}

}  // namespace burn::daemon
