// The table of options, its values, and the flags and help that are made of it.
#include "daemon/options.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daemon/command_line.h"
#include "server/worker_options.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;

const Program kWorker{.daemon = Daemon::worker, .name = "burn-server", .version = "1", .description = "Serves."};
const Program kRouter{.daemon = Daemon::router, .name = "burn-router", .version = "1", .description = "Routes."};

CommandLine parse(std::vector<const char*> arguments, const Program& program = kWorker) {
  arguments.insert(arguments.begin(), "program");
  return parse_command_line(program, static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveANameOfTheirOwnAndHelp) {
  std::set<std::string_view> flags;
  std::size_t k = 0;
  for (const auto& row : options()) {
    EXPECT_EQ(static_cast<std::size_t>(row.option), k++);
    EXPECT_TRUE(flags.insert(row.flag).second) << row.flag << " is there twice";
    EXPECT_EQ(row.flag.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << row.flag;
    EXPECT_GT(row.help.size(), 10u) << row.flag;
    EXPECT_LE(row.min, row.max) << row.flag;
  }
}

TEST(Options, HaveDefaultsThatAreValuesOfTheirKind) {
  OptionValues values;  // throws for a default that is none
  for (const auto& row : options()) {
    EXPECT_EQ(values.is_set(row.option), !row.fallback.empty()) << row.flag;
    if (row.fallback.empty()) continue;
    EXPECT_TRUE(values.set(row.option, row.fallback).ok()) << row.flag;
  }
}

TEST(Options, HaveTheDefaultsOfServerOptions) {
  const server::ServerOptions ours;
  const auto from_table = server::server_options(OptionValues{});
  EXPECT_EQ(from_table.device, ours.device);
  EXPECT_EQ(from_table.ws, ours.ws);
  EXPECT_EQ(from_table.grpc, "127.0.0.1:3001") << "a worker inside a program offers it on demand only";
  EXPECT_EQ(from_table.unix_path, ours.unix_path);
  EXPECT_EQ(from_table.grpc_unix_path, ours.grpc_unix_path);
  EXPECT_EQ(from_table.collective_address, ours.collective_address);
  EXPECT_EQ(from_table.operator_address, ours.operator_address);
  EXPECT_EQ(from_table.token_file, ours.token_file);
  EXPECT_EQ(from_table.insecure, ours.insecure);
  EXPECT_EQ(from_table.allow_origins, ours.allow_origins);
  EXPECT_EQ(from_table.sessions, ours.sessions);
  EXPECT_EQ(from_table.sessions_per_peer, ours.sessions_per_peer);
  EXPECT_EQ(from_table.session_bytes, ours.session_bytes);
  EXPECT_EQ(from_table.programs, ours.programs);
  EXPECT_EQ(from_table.run_timeout, ours.run_timeout);
  EXPECT_EQ(from_table.plan_cache, ours.plan_cache);
  EXPECT_EQ(from_table.idle_memory, ours.idle_memory);
  EXPECT_EQ(from_table.session_lease, ours.session_lease);
  EXPECT_EQ(from_table.drain_seconds, ours.drain_seconds);
}

TEST(Options, TakeSizesWithUnits) {
  OptionValues values;
  const auto bytes = [&](std::string_view text) {
    const auto status = values.set(Option::idle_memory, text);
    return status.ok() ? fmt::format("{}", values.number(Option::idle_memory)) : std::string{name(status.code())};
  };
  EXPECT_EQ(bytes("0"), "0");
  EXPECT_EQ(bytes("1000"), "1000");
  EXPECT_EQ(bytes("512M"), "536870912");
  EXPECT_EQ(bytes("512mb"), "536870912");
  EXPECT_EQ(bytes("64MiB"), "67108864");
  EXPECT_EQ(bytes("7B"), "7");
  EXPECT_EQ(bytes("1E"), "1152921504606846976");
  EXPECT_EQ(bytes("2E"), "OUT_OF_RANGE");
  EXPECT_EQ(bytes("99999E"), "OUT_OF_RANGE");
  for (const auto* text : {"", "lots", "5Q", "-1", "1.5G", "5 M", "M", "5Mi", "5bb"}) {
    EXPECT_EQ(bytes(text), "INVALID_ARGUMENT") << text;
  }
  EXPECT_EQ(values.number(Option::idle_memory), std::uint64_t{1} << 60) << "an error changes nothing";
}

TEST(Options, TakeTimesInTheirUnit) {
  OptionValues values;
  EXPECT_TRUE(values.set(Option::run_timeout, "0.0015").ok());
  EXPECT_EQ(values.duration(Option::run_timeout), 2ms) << "rounded up";
  EXPECT_TRUE(values.set(Option::session_lease, "7").ok());
  EXPECT_EQ(values.duration(Option::session_lease), 7s);
  EXPECT_EQ(values.set(Option::session_lease, "7.5").code(), StatusCode::invalid_argument);
  EXPECT_EQ(values.set(Option::session_lease, "86401").code(), StatusCode::out_of_range);
  for (const auto* text : {"nan", "x", "1s"}) {
    EXPECT_EQ(values.set(Option::run_timeout, text).code(), StatusCode::invalid_argument) << text;
  }
  EXPECT_EQ(values.set(Option::run_timeout, "-1").code(), StatusCode::out_of_range);
  EXPECT_EQ(values.set(Option::run_timeout, "inf").code(), StatusCode::out_of_range);
}

TEST(Options, KnowWhichDaemonHasThem) {
  EXPECT_TRUE(has_option(Daemon::worker, Option::device));
  EXPECT_FALSE(has_option(Daemon::router, Option::device));
  EXPECT_TRUE(has_option(Daemon::worker, Option::ws));
  EXPECT_TRUE(has_option(Daemon::router, Option::ws));
  EXPECT_TRUE(has_option(Daemon::router, Option::worker));
  EXPECT_FALSE(has_option(Daemon::worker, Option::worker));
}

TEST(CommandLine, SetsWhatItNames) {
  const auto line = parse({"--ws", "off", "--grpc", "0.0.0.0:1", "--insecure", "--allow-origin", "a", "--allow-origin",
                           "b", "--threads", "3", "--session-memory", "2G"});
  ASSERT_FALSE(line.exit_code.has_value());
  const auto& values = line.values;
  EXPECT_FALSE(values.is_set(Option::ws));
  EXPECT_EQ(values.text(Option::ws), "");
  EXPECT_EQ(values.text(Option::grpc), "0.0.0.0:1");
  EXPECT_TRUE(values.is_set(Option::insecure));
  EXPECT_FALSE(values.is_set(Option::check));
  EXPECT_EQ(values.list(Option::allow_origin), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values.number(Option::threads), 3u);
  EXPECT_EQ(values.number(Option::session_memory), std::uint64_t{2} << 30);
  EXPECT_EQ(values.text(Option::device), "cpu");
}

TEST(CommandLine, EndsTheProgramAfterHelpAndErrors) {
  EXPECT_EQ(parse({"--help"}).exit_code, 0);
  EXPECT_EQ(parse({"--version"}).exit_code, 0);
  EXPECT_NE(parse({"--threads", "0"}).exit_code.value_or(0), 0);
  EXPECT_NE(parse({"--sessions", "-1"}).exit_code.value_or(0), 0);
  EXPECT_NE(parse({"--unknown"}).exit_code.value_or(0), 0);
  EXPECT_NE(parse({"--device", "cpu"}, kRouter).exit_code.value_or(0), 0) << "an option of another daemon";
}

TEST(CommandLine, HelpHasEveryOptionWithItsDefault) {
  for (const auto& program : {kWorker, kRouter}) {
    const auto help = help_text(program);
    for (const auto& row : options()) {
      const bool has = has_option(program.daemon, row.option);
      EXPECT_EQ(help.find(fmt::format("--{} ", row.flag)) != std::string::npos, has) << row.flag;
      if (row.fallback.empty() || !has) continue;
      EXPECT_NE(help.find(fmt::format("--{} {}={}", row.flag, placeholder(row.kind), row.fallback)), std::string::npos)
          << row.flag;
    }
    EXPECT_NE(help.find("BURN_NUM_THREADS"), std::string::npos) << "the environment's settings";
  }
}

// Where documents name flags: after "burn-server" up to the end of the command, and anywhere in those about limits.
TEST(CommandLine, KnowsEveryFlagThatTheDocumentsName) {
  const std::set<std::filesystem::path> about_limits{"docs/security.md", "docs/tenants.md"};
  std::set<std::string> known{"help", "version"};
  for (const auto& row : options()) known.emplace(row.flag);
  std::vector<std::filesystem::path> documents{"README.md"};
  for (const auto& entry : std::filesystem::directory_iterator{"docs"}) documents.push_back(entry.path());
  const std::regex flag{"--([a-z][a-z-]*)"};
  std::size_t found = 0;
  for (const auto& document : documents) {
    std::ifstream file{document};
    for (std::string line; std::getline(file, line);) {
      if (!about_limits.contains(document)) {
        const auto command = line.find("burn-server ");
        if (command == line.npos) continue;
        line = line.substr(command, line.find_first_of("`;&|", command) - command);
      }
      for (std::sregex_iterator it{line.begin(), line.end(), flag}, end; it != end; ++it, ++found) {
        EXPECT_TRUE(known.contains((*it)[1])) << document << " names " << it->str();
      }
    }
  }
  EXPECT_GT(found, 15u);
}

}  // namespace
}  // namespace burn::daemon
