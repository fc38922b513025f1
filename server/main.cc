// burn-server: a worker as a program. Says on stdout where it listens, logs to stderr, ends on SIGTERM or SIGINT.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "backends/apart.h"
#include "base/error.h"
#include "base/settings.h"
#include "net/listen/process_limits.h"
#include "server/check.h"
#include "server/log.h"
#include "server/server.h"
#include "session/version.h"

namespace {

// Signals wait in line for next_signal(), in every thread that is started from now on.
sigset_t hold_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

int next_signal(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

// What is started before the first client comes: loops, timers and housekeeping of ours, and where gRPC is served its
// own, some of which are one for each core of the machine.
int threads_to_begin_with(const burn::server::ServerOptions& options) {
  constexpr int kOurs = 10, kGrpc = 6;
  const bool serves_grpc = !options.grpc.empty() || !options.grpc_unix_path.empty();
  return kOurs + (serves_grpc ? kGrpc + static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)) : 0);
}

std::string unless_off(const std::string& address) { return address == "off" ? "" : address; }

void reload_tokens(burn::server::Server& server, const std::string& file) {
  const auto read = server.reload_tokens();
  if (read.ok()) return burn::server::log_info(fmt::format("signal {}: {} is read again", SIGHUP, file));
  burn::server::log_warning(fmt::format("signal {}: the tokens stay what they were: {}", SIGHUP, read.message()));
}

// What a session is at may not be to be stopped: then the process ends all the same, kGrace after the drain's time.
constexpr auto kGrace = std::chrono::seconds{5};

int stop(burn::server::Server& server, std::chrono::seconds drain) {
  std::promise<void> stopped;
  auto done = stopped.get_future();
  std::thread stopping{[&] {
    server.stop();
    stopped.set_value();
  }};
  if (done.wait_for(drain + kGrace) != std::future_status::ready) {
    burn::server::log_warning(fmt::format("{} sessions do not end; the process does", server.sessions()));
    std::_Exit(EXIT_FAILURE);
  }
  stopping.join();
  // All clients have been told. Runs that are left behind use objects of libraries, which must not be destroyed.
  if (const auto left = burn::backends::LeftBehind::count_in_process(); left > 0) {
    burn::server::log_warning(fmt::format("done; {} runs that could not be stopped end with the process", left));
    std::fflush(nullptr);
    std::_Exit(EXIT_SUCCESS);
  }
  burn::server::log_info("done");
  return EXIT_SUCCESS;
}

int serve(const burn::server::ServerOptions& options) {
  burn::throw_if_error(burn::check_settings());
  const auto signals = hold_signals();
  burn::net::raise_process_limits();
  burn::throw_if_error(burn::net::check_threads(threads_to_begin_with(options)));
  burn::server::Server server{options};
  for (const auto& url : server.urls()) std::printf("listening %s\n", url.c_str());
  std::fflush(stdout);
  burn::server::log_info(fmt::format("{} on {} is ready", burn::session::kServerName, options.device));

  auto signal = next_signal(signals);
  while (signal == SIGHUP && !options.token_file.empty()) {
    reload_tokens(server, options.token_file);
    signal = next_signal(signals);
  }
  burn::server::log_info(fmt::format("signal {}: shutting down; another one ends it at once", signal));
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // their default is the end
  return stop(server, std::chrono::seconds{options.drain_seconds});
}

int check(const std::string& devices) {
  const auto found = burn::server::check_machine(devices);
  std::printf("%s\n", burn::session::kServerName);
  for (const auto& line : found.lines) std::printf("%s\n", line.c_str());
  return found.can_serve ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  burn::server::ServerOptions options;
  options.grpc = "127.0.0.1:3001";
  std::string level = "info";
  int threads = 0;

  CLI::App app{"Executes tensor programs for clients that connect over WebSocket or gRPC.", "burn-server"};
  app.set_version_flag("--version", burn::session::kServerName);
  app.add_option("--device", options.device,
                 "What to compute on; several: cpu,null, cuda:0,1 or cuda:all, which clients name by /0, /1, ... in "
                 "the URL")
      ->capture_default_str();
  app.add_option("--ws", options.ws, "HOST:PORT for WebSocket, or off")->capture_default_str();
  app.add_option("--grpc", options.grpc, "HOST:PORT for gRPC, or off")->capture_default_str();
  app.add_option("--unix", options.unix_path, "PATH of a unix socket for WebSocket; off, or no path: none");
  app.add_option("--grpc-unix", options.grpc_unix_path, "PATH of a unix socket for gRPC; off, or no path: none");
  app.add_option("--log-level", level, "trace, debug, info, warning, error or off")->capture_default_str();
  app.add_option("--threads", threads, "Threads to compute with (default: one per core)")->check(CLI::Range(1, 4096));
  app.add_option(
         "--idle-memory", options.idle_memory,
         "Bytes (or 512M, 2G) of memory to keep for the next session; the rest goes back seconds after the last one")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 60))  // -1 would be read as very much
      ->capture_default_str();
  app.add_option("--plan-cache", options.plan_cache,
                 "Bytes (or 512M, 2G) of compiled programs to keep, of each device; the newest is kept in any case "
                 "(default: 1G, or less where there is little memory)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 60));
  app.add_option("--session-lease", options.session_lease,
                 "Seconds that a session waits for its client to come back when the connection is lost; 0: it ends")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  const CLI::Range count{std::uint64_t{1}, std::uint64_t{1} << 24};
  app.add_option("--sessions", options.sessions, "Sessions at once; unix sockets have a few more, for operators")
      ->check(count)
      ->capture_default_str();
  app.add_option("--sessions-per-peer", options.sessions_per_peer,
                 "Sessions at once from one address; does not hold for unix sockets")
      ->check(count)
      ->capture_default_str();
  app.add_option("--session-memory", options.session_bytes,
                 "Bytes (or 512M, 2G) that a session may have of tensors and, while it runs, of what runs take beside "
                 "them; never "
                 "more than the device has")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 60))
      ->capture_default_str();
  app.add_option("--programs", options.programs, "Programs that a session may have defined at a time")
      ->check(count)
      ->capture_default_str();
  double run_seconds = 600;
  app.add_option("--run-timeout", run_seconds,
                 "Seconds that one run of a program may take on a CPU; 0: as long as it likes")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option(
         "--drain-timeout", options.drain_seconds,
         "Seconds for running work to be finished after SIGTERM; 5 seconds later at the latest the process ends")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  app.add_option(
      "--token-file", options.token_file,
      "PATH of a file with a token on each line, one of which clients have to know (BURN_TOKEN); read again on "
      "SIGHUP");
  app.add_flag("--insecure", options.insecure,
               "Without a token file, listen also on addresses that other machines can reach");
  app.add_option("--allow-origin", options.allow_origins,
                 "ORIGIN of a page that may connect from a browser (https://example.org; *: any); may be said again")
      ->take_all();
  bool only_checks = false;
  app.add_flag("--check", only_checks,
               "Says what there is on this machine and what is missing; fails if --device cannot be served");
  app.footer(burn::settings_help());
  CLI11_PARSE(app, argc, argv);
  options.ws = unless_off(options.ws);
  options.grpc = unless_off(options.grpc);
  options.unix_path = unless_off(options.unix_path);
  options.grpc_unix_path = unless_off(options.grpc_unix_path);
  options.run_timeout = std::chrono::milliseconds{static_cast<std::int64_t>(std::ceil(run_seconds * 1e3))};

  if (!burn::server::set_log_level(level)) {
    std::fprintf(stderr, "burn-server: no log level \"%s\"\n", level.c_str());
    return EXIT_FAILURE;
  }
  if (threads > 0) burn::override_setting(burn::Setting::num_threads, std::to_string(threads));
  try {
    if (only_checks) return check(options.device);
    return serve(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "burn-server: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
