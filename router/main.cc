// burn-router: a router as a program (daemon/process.h).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "daemon/command_line.h"
#include "daemon/log.h"
#include "daemon/operator_command.h"
#include "daemon/process.h"
#include "router/router.h"
#include "router/router_host.h"
#include "router/status.h"
#include "router/version.h"

namespace {

int serve(const burn::router::RouterOptions& options, burn::daemon::ReadOptions read_options) {
  burn::daemon::Process process{options.service, std::move(read_options)};
  burn::router::Router router{options};
  return process.run(router.service(), router.host(),
                     fmt::format("{} for {} workers is ready", burn::router::kServerName, options.workers.size()));
}

int fail(const std::string& why) {
  std::fprintf(stderr, "burn-router: %s\n", why.c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  // "status" asks for the router's members over the wire protocol; "status --operator ADDRESS" asks the operator's
  // port.
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool asks_operator = std::ranges::find(arguments, "--operator") != arguments.end();
  if (!arguments.empty() && arguments.front() == "status" && !asks_operator)
    return burn::router::run_status({arguments.begin() + 1, arguments.end()});
  if (const auto code = burn::daemon::run_operator_command("burn-router", argc, argv)) return *code;
  const burn::daemon::Program program{
      .daemon = burn::daemon::Daemon::router,
      .name = "burn-router",
      .version = burn::router::kServerName,
      .description =
          "Serves workers that run elsewhere to clients as one. \"burn-router status --help\" says how to look at "
          "one that runs."};
  const auto line = burn::daemon::parse_command_line(program, argc, argv);
  if (line.exit_code) return *line.exit_code;
  for (const auto& warning : line.warnings) burn::daemon::log_warning(warning);
  const auto& level = line.values.text(burn::daemon::Option::log_level);
  if (!burn::daemon::set_log_level(level)) return fail(fmt::format("no log level \"{}\"", level));
  const auto& format = line.values.text(burn::daemon::Option::log_format);
  if (!burn::daemon::set_log_format(format)) return fail(fmt::format("no log format \"{}\"", format));
  try {
    return serve(burn::router::router_options(line.values), burn::daemon::read_again(program, line.values, argc, argv));
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
