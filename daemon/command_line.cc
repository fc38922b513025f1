#include "daemon/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/one_line.h"
#include "base/settings.h"
#include "daemon/inherited_sockets.h"
#include "daemon/operator/wrapped_text.h"
#include "daemon/operator_command.h"
#include "daemon/option_source.h"
#include "daemon/previous_config.h"
#include "daemon/tenant_rules.h"
#include "daemon/tls_options.h"
#include "daemon/tokens.h"
#include "net/tls/identity.h"
#include "net/trace/otlp.h"

namespace burn::daemon {
namespace {

// Checks the text at once, so that CLI11 reports the error in the same form as its own.
void take(GivenOptions& given, const OptionInfo& row, std::vector<std::string> texts) {
  const auto flag = fmt::format("--{}", row.flag);
  OptionValues tried;
  for (const auto& text : texts) {
    const auto status = tried.set(row.option, text);
    if (!status.ok()) throw CLI::ValidationError(flag, status.message());
  }
  given.push_back({row.option, std::move(texts), flag});
}

void add(CLI::App& app, const OptionInfo& row, GivenOptions& given) {
  const auto flag = fmt::format("--{}", row.flag);
  const std::string help{row.help};
  if (row.kind == OptionInfo::Kind::flag) {
    app.add_flag_callback(
        flag, [&] { take(given, row, {"true"}); }, help);
    return;
  }
  if (row.kind == OptionInfo::Kind::list) {
    const auto take_all = [&](const std::vector<std::string>& texts) { take(given, row, texts); };
    app.add_option_function<std::vector<std::string>>(flag, take_all, help)
        ->take_all()
        ->type_name(std::string{placeholder(row.kind)});
    return;
  }
  app.add_option_function<std::string>(
         flag, [&](const std::string& text) { take(given, row, {text}); }, help)
      ->type_name(std::string{placeholder(row.kind)})
      ->default_str(std::string{row.fallback});
}

void add_all(CLI::App& app, const Program& program, GivenOptions& given) {
  app.set_version_flag("--version", program.version);
  for (const auto& row : options()) {
    if (has_option(program.daemon, row.option)) add(app, row, given);
  }
  app.footer(fmt::format("{}\nEvery option but the last ones may also be given by the environment: {} for --ws.\n\n{}",
                         operator_commands_help(program.name), environment_name(program.daemon, Option::ws),
                         settings_help()));
}

// Merges the sources of options; add() them in order of increasing precedence.
class Sources {
 public:
  explicit Sources(Daemon daemon) : daemon_(daemon) {}

  Status add(const GivenOptions& given) { return set_options(given, values_); }

  const OptionValues& values() const { return values_; }

  // The text of an equivalent file of options.
  std::string print() const {
    std::string text;
    for (const auto& row : options()) {
      if (!has_option(daemon_, row.option) || is_of_command_line(row.option)) continue;
      const auto value = values_.to_toml(row.option);
      text += value.empty() ? fmt::format("# {} is not set\n", row.flag)
                            : fmt::format("{} = {}  # {}\n", row.flag, value, values_.origin(row.option));
    }
    return text;
  }

 private:
  const Daemon daemon_;
  OptionValues values_;
};

const GivenOption* find(const GivenOptions& given, Option option) {
  for (const auto& each : given) {
    if (each.option == option) return &each;
  }
  return nullptr;
}

Status resolve(const Program& program, const GivenOptions& flags, const char* const* environment, CommandLine& line,
               Sources& sources) {
  auto variables = read_option_environment(program.daemon, environment);
  for (const auto& name : variables.unknown) line.warnings.push_back(fmt::format("{} names no option", name));
  const auto* file = find(flags, Option::config);
  if (!file) file = find(variables.given, Option::config);
  if (file) {
    BURN_TRY(const auto given, read_option_file(program.daemon, file->texts.front()));
    BURN_RETURN_IF_ERROR(sources.add(given));
  }
  BURN_RETURN_IF_ERROR(sources.add(variables.given));
  BURN_RETURN_IF_ERROR(sources.add(flags));
  BURN_TRY(const auto sockets, read_inherited_sockets(environment));
  BURN_RETURN_IF_ERROR(sources.add(sockets));
  line.values = sources.values();
  return {};
}

Status check_named_files(const OptionValues& values) {
  const auto tokens = Tokens{values.text(Option::token_file)}.reload();
  if (!tokens.ok()) return tokens.with_context("token-file");
  if (values.is_set(Option::tenants)) {
    const auto tenants = read_tenants(values.text(Option::tenants));
    if (!tenants.ok()) return tenants.status().with_context("tenants");
  }
  if (values.is_set(Option::otlp)) {
    const auto url = net::parse_otlp_url(values.text(Option::otlp));
    if (!url.ok()) return url.status().with_context("otlp");
  }
  BURN_TRY(const auto tls, tls_options(values));
  if (tls.certificate.empty()) return {};
  return net::tls::ServerIdentity::read(tls).status().with_context("TLS");
}

int end_with(const Program& program, const Status& status, std::string_view done) {
  if (status.ok()) {
    std::printf("%s\n", std::string{done}.c_str());
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "%s\n", fmt::format("{}: {}", program.name, status.message()).c_str());
  return EXIT_FAILURE;
}

// The error for unexpected arguments: names the first unknown flag, or else the first argument.
Status unexpected(const Program& program, const std::vector<std::string>& arguments) {
  const auto flag = std::ranges::find_if(arguments, [](const auto& each) { return each.starts_with("--"); });
  if (flag == arguments.end()) return invalid_argument(fmt::format("{} is no option", burn::quoted(arguments.front())));
  const auto name = flag->substr(2, flag->find('=') - 2);
  return invalid_argument(fmt::format("there is no option {}; the nearest is \"--{}\"",
                                      burn::quoted(fmt::format("--{}", name)),
                                      nearest_option(program.daemon, name, true)));
}

// Does not read the file of options, because a bad file may be the reason for the rollback.
int roll_back_file(const Program& program, const GivenOptions& flags, const char* const* environment) {
  const auto variables = read_option_environment(program.daemon, environment).given;
  const auto* file = find(flags, Option::config);
  if (!file) file = find(variables, Option::config);
  if (!file) return end_with(program, invalid_argument("--rollback needs --config"), {});
  const auto& config = file->texts.front();
  const auto kept = roll_back(program.daemon, config, previous_config_paths(program.daemon, config, environment));
  return end_with(program, kept.status(), fmt::format("{} is {} again", config, kept.ok() ? *kept : std::string{}));
}

}  // namespace

CommandLine parse_command_line(const Program& program, int argc, const char* const* argv,
                               const char* const* environment) {
  CommandLine line;
  GivenOptions flags;
  CLI::App app{program.description, program.name};
  add_all(app, program, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    line.exit_code = end_with(program, unexpected(program, app.remaining()), {});
    return line;
  } catch (const CLI::ParseError& error) {
    line.exit_code = app.exit(error);
    return line;
  }
  if (!environment) environment = environ;
  if (find(flags, Option::rollback)) {
    line.exit_code = roll_back_file(program, flags, environment);
    return line;
  }
  Sources sources{program.daemon};
  const auto status = resolve(program, flags, environment, line, sources);
  if (!status.ok()) {
    line.exit_code = end_with(program, status, {});
  } else if (line.values.is_set(Option::print_config)) {
    std::fputs(sources.print().c_str(), stdout);
    line.exit_code = EXIT_SUCCESS;
  } else if (line.values.is_set(Option::check_config)) {
    line.exit_code = end_with(program, check_named_files(line.values), "the options are fine");
  }
  return line;
}

Result<OptionValues> read_options_again(const Program& program, int argc, const char* const* argv,
                                        const char* const* environment) {
  GivenOptions flags;
  CLI::App app{program.description, program.name};
  add_all(app, program, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return invalid_argument(error.what());
  }
  CommandLine line;
  Sources sources{program.daemon};
  BURN_RETURN_IF_ERROR(resolve(program, flags, environment ? environment : environ, line, sources));
  return line.values;
}

ReadOptions read_again(const Program& program, const OptionValues& values, int argc, const char* const* argv) {
  if (!values.is_set(Option::config)) return {.daemon = program.daemon, .values = values, .read = nullptr};
  const auto& config = values.text(Option::config);
  const auto text = read_config(config);
  return {.daemon = program.daemon,
          .values = values,
          .read = [=] { return read_options_again(program, argc, argv); },
          .config = text.ok() ? config : std::string{},
          .active_text = text.ok() ? *text : std::string{},
          .last_text = text.ok() ? *text : std::string{},
          .previous_path = previous_config_path(config, environ)};
}

std::string help_text(const Program& program) {
  GivenOptions given;
  CLI::App app{program.description, program.name};
  add_all(app, program, given);
  return app.help();
}

std::string options_markdown() {
  auto text =
      std::string{"# Options\n\nPrinted from `daemon/options.def`; a test compares the two.\n\n"} +
      wrapped(
          "An option is a flag (`--session-lease 30`), a key of the file that `--config` names "
          "(`session-lease = 30`) and a variable of the environment (`BURN_SERVER_SESSION_LEASE=30`, of a router "
          "`BURN_ROUTER_...`). A flag beats the environment, which beats the file, which beats the default. "
          "`--print-config` prints every value with where it comes from, `--check-config` checks all without "
          "opening a device. On SIGHUP the file is read again, with the files that options name: what is wrong leaves "
          "all as it was, and is in the log; of options whose text says so the new value holds from then on, of others "
          "the log names those that have changed, and a restart takes them over. The file is TOML: sizes are numbers "
          "of bytes or texts with a unit (`\"40G\"`), lists "
          "are arrays; in the environment a list has commas.") +
      '\n' + wrapped("Settings of the libraries (`BURN_...` without `SERVER_` or `ROUTER_`) are in docs/settings.md.");
  for (const auto& row : options()) {
    std::string about{row.daemons == Daemon::every    ? ""
                      : row.daemons == Daemon::worker ? "Of workers alone. "
                                                      : "Of routers alone. "};
    about += row.help;
    if (row.when == OptionInfo::When::reload) about += ". Taken over on SIGHUP";
    about += row.fallback.empty() ? ". No default." : fmt::format(". Default: `{}`.", row.fallback);
    if (row.option == Option::config) {
      about += " A flag or a variable.";
    } else if (is_of_command_line(row.option)) {
      about += " A flag only.";
    }
    text += fmt::format("\n## `{}`\n\n{}", row.flag, wrapped(about));
  }
  return text;
}

}  // namespace burn::daemon
