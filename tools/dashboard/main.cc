// burn-dashboard: shows folders of finished and running trainings in a browser; exports and removes them.
//
//   burn-dashboard runs/                     serves http://127.0.0.1:6006/
//   burn-dashboard runs/ --csv Loss          writes the metric of all runs to stdout
//   burn-dashboard runs/ --prune 30 --yes    removes runs that ended more than 30 days ago
#include <csignal>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/thread.h"
#include "tools/dashboard/folders.h"
#include "train/dashboard/run_board.h"
#include "train/dashboard/web/server.h"

namespace {

using namespace burn;
using namespace burn::dashboard_tool;

struct Options {
  std::vector<std::string> folders;
  std::string address = "127.0.0.1:6006";
  std::string csv;
  double prune_days = -1;
  bool yes = false;
};

Folders runs_in(const Options& options) {
  Folders runs;
  for (const auto& folder : options.folders) {
    if (!std::filesystem::is_directory(folder)) throw Error(StatusCode::not_found, folder + " is no folder");
    auto found = train::dashboard::run_folders(folder);
    runs.insert(runs.end(), found.begin(), found.end());
  }
  return runs;
}

void prune(const Options& options) {
  const auto old = old_runs(runs_in(options), options.prune_days);
  std::uintmax_t bytes = 0;
  for (const auto& run : old) {
    std::cout << run.string() << '\n';
    if (options.yes) bytes += remove_run(run);
  }
  if (options.yes)
    std::cout << fmt::format("removed {} runs, {:.1f} MB\n", old.size(), static_cast<double>(bytes) / 1e6);
  else
    std::cout << fmt::format("{} runs would be removed; --yes removes them\n", old.size());
}

void serve(const Options& options) {
  auto address = value_or_throw(train::dashboard::parse_address(options.address));
  (void)runs_in(options);  // throws for folders that do not exist
  train::dashboard::RunBoard board;
  train::dashboard::FolderReader reader{{options.folders.begin(), options.folders.end()}, board};
  reader.poll();
  sigset_t ends{};
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const train::dashboard::WebServer server{{.address = address}, board};
  std::cout << fmt::format("{} runs: {}\n", board.size(), server.url()) << std::flush;
  const timespec interval{.tv_sec = 0, .tv_nsec = 500'000'000};
  while (sigtimedwait(&ends, nullptr, &interval) < 0) reader.poll();
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Shows folders of finished and running trainings in a browser."};
  app.add_option("folders", options.folders, "folders of trainings, or folders that hold such ones")->required();
  app.add_option("--address", options.address,
                 "where to listen; any but a loopback address needs a token, which is printed")
      ->capture_default_str();
  auto* csv = app.add_option("--csv", options.csv, "write this metric of all runs to stdout as CSV");
  app.add_option("--prune", options.prune_days, "list runs that ended more than so many days ago")
      ->check(CLI::Range(0.0, 1e5))
      ->excludes(csv);
  app.add_flag("--yes", options.yes, "with --prune: remove them");
  CLI11_PARSE(app, argc, argv);
  if (!options.csv.empty())
    write_csv(runs_in(options), options.csv, std::cout);
  else if (options.prune_days >= 0)
    prune(options);
  else
    serve(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "burn-dashboard: " << error.what() << '\n';
    return 1;
  }
}
