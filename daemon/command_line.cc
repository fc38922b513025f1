#include "daemon/command_line.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/settings.h"
#include "daemon/operator_command.h"

namespace burn::daemon {
namespace {

void set(OptionValues& values, const OptionInfo& row, const std::string& text) {
  const auto status = values.set(row.option, text);
  if (!status.ok()) throw CLI::ValidationError(fmt::format("--{}", row.flag), status.message());
}

void add(CLI::App& app, const OptionInfo& row, OptionValues& values) {
  const auto flag = fmt::format("--{}", row.flag);
  const std::string help{row.help};
  if (row.kind == OptionInfo::Kind::flag) {
    app.add_flag_callback(
        flag, [&] { set(values, row, "true"); }, help);
    return;
  }
  if (row.kind == OptionInfo::Kind::list) {
    const auto add_all = [&](const std::vector<std::string>& texts) {
      for (const auto& text : texts) set(values, row, text);
    };
    app.add_option_function<std::vector<std::string>>(flag, add_all, help)
        ->take_all()
        ->type_name(std::string{placeholder(row.kind)});
    return;
  }
  app.add_option_function<std::string>(
         flag, [&](const std::string& text) { set(values, row, text); }, help)
      ->type_name(std::string{placeholder(row.kind)})
      ->default_str(std::string{row.fallback});
}

void add_all(CLI::App& app, const Program& program, OptionValues& values) {
  app.set_version_flag("--version", program.version);
  for (const auto& row : options()) {
    if (has_option(program.daemon, row.option)) add(app, row, values);
  }
  app.footer(operator_commands_help(program.name) + "\n" + settings_help());
}

}  // namespace

CommandLine parse_command_line(const Program& program, int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app{program.description, program.name};
  add_all(app, program, line.values);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.exit_code = app.exit(error);
  }
  return line;
}

std::string help_text(const Program& program) {
  OptionValues values;
  CLI::App app{program.description, program.name};
  add_all(app, program, values);
  return app.help();
}

}  // namespace burn::daemon
