// burn-server: a worker as a program (daemon/process.h).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/settings.h"
#include "daemon/command_line.h"
#include "daemon/log.h"
#include "daemon/operator_command.h"
#include "daemon/process.h"
#include "server/check.h"
#include "server/self_run.h"
#include "server/worker_options.h"
#include "session/version.h"

namespace {

using burn::daemon::Option;

int serve(const burn::server::ServerOptions& options, burn::daemon::ReadOptions read_options) {
  const auto service_options = burn::server::service_options(options);
  burn::daemon::Process process{service_options, std::move(read_options)};
  const auto host = burn::server::open_worker(options);
  burn::throw_if_error(burn::server::try_devices(*host));
  burn::daemon::Service service{service_options, host};
  return process.run(service, *host, fmt::format("{} on {} is ready", burn::session::kServerName, options.device));
}

int check(const std::string& devices) {
  const auto found = burn::server::check_machine(devices);
  std::printf("%s\n", burn::session::kServerName);
  for (const auto& line : found.lines) std::printf("%s\n", line.c_str());
  return found.can_serve ? EXIT_SUCCESS : EXIT_FAILURE;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "burn-server: %s\n", why.c_str());
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = burn::daemon::run_operator_command("burn-server", argc, argv)) return *code;
  const burn::daemon::Program program{
      .daemon = burn::daemon::Daemon::worker,
      .name = "burn-server",
      .version = burn::session::kServerName,
      .description = "Executes tensor programs for clients that connect over WebSocket or gRPC."};
  const auto line = burn::daemon::parse_command_line(program, argc, argv);
  if (line.exit_code) return *line.exit_code;
  for (const auto& warning : line.warnings) burn::daemon::log_warning(warning);
  const auto& values = line.values;
  const auto& level = values.text(Option::log_level);
  if (!burn::daemon::set_log_level(level)) return fail(fmt::format("no log level \"{}\"", level));
  const auto& format = values.text(Option::log_format);
  if (!burn::daemon::set_log_format(format)) return fail(fmt::format("no log format \"{}\"", format));
  if (values.is_set(Option::threads)) {
    burn::override_setting(burn::Setting::num_threads, std::to_string(values.number(Option::threads)));
  }
  if (values.is_set(Option::device_memory)) {  // set in the environment, as plug-ins read it from there
    const auto bytes = std::to_string(values.number(Option::device_memory));
    ::setenv("BURN_DEVICE_MEMORY", bytes.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs yet
  }
  try {
    const auto options = burn::server::server_options(values);
    return values.is_set(Option::check) ? check(options.device)
                                        : serve(options, burn::daemon::read_again(program, values, argc, argv));
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
