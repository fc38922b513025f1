// Options from a file and from the environment, and which source beats which.
#include "daemon/option_source.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/command_line.h"
#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

const Program kWorker{.daemon = Daemon::worker, .name = "burn-server", .version = "1", .description = "Serves."};

OptionValues values_of(std::string_view file) {
  OptionValues values;
  const auto given = parse_option_file(Daemon::worker, file, "f.toml");
  EXPECT_TRUE(given.ok()) << given.status().message();
  if (given.ok()) {
    const auto status = set_options(*given, values);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return values;
}

std::string error_of(std::string_view file) {
  const auto given = parse_option_file(Daemon::worker, file, "f.toml");
  if (!given.ok()) return given.status().message();
  OptionValues values;
  return set_options(*given, values).message();
}

TEST(OptionFile, SetsOptionsOfEveryKind) {
  const auto values = values_of(R"(
# a comment
device = "null"
sessions = 64
session-memory = "40G"
idle-memory = 1000
session-lease = 7
run-timeout = 0.5
insecure = true
grpc = "off"
token-file = "/etc/burn/tokens"
allow-origin = ["https://a.example", "https://b.example"]
)");
  EXPECT_EQ(values.text(Option::device), "null");
  EXPECT_EQ(values.number(Option::sessions), 64u);
  EXPECT_EQ(values.number(Option::session_memory), std::uint64_t{40} << 30);
  EXPECT_EQ(values.number(Option::idle_memory), 1000u);
  EXPECT_EQ(values.duration(Option::session_lease), 7s);
  EXPECT_EQ(values.duration(Option::run_timeout), 500ms);
  EXPECT_TRUE(values.is_set(Option::insecure));
  EXPECT_FALSE(values.is_set(Option::grpc));
  EXPECT_EQ(values.list(Option::allow_origin).size(), 2u);
  EXPECT_EQ(values.text(Option::ws), "127.0.0.1:3000") << "what is not there keeps its default";
}

TEST(OptionFile, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(error_of("sessions = 64\nsesions = 3\n"),
            "line 2 of f.toml: there is no option \"sesions\"; the nearest is \"sessions\"");
  EXPECT_EQ(error_of("idle-memory = \"40Q\""),
            "line 1 of f.toml: idle-memory: \"40Q\" is not a number of bytes, as 1000 or 512M");
  EXPECT_EQ(error_of("\n\nsessions = 0"), "line 3 of f.toml: sessions: 0 is not in the range from 1 to 16777216");
  EXPECT_EQ(error_of("sessions = -1"), "line 1 of f.toml: sessions: \"-1\" is not a whole number");
  EXPECT_EQ(error_of("ws = [\"a:1\", \"b:2\"]"), "line 1 of f.toml: ws takes one value, not several");
  EXPECT_THAT(error_of("[tenant]\nname = \"a\"\n"), StartsWith("line 1 of f.toml: there is no option \"tenant\";"));
  EXPECT_THAT(error_of("config = \"x\""), StartsWith("line 1 of f.toml: there is no option \"config\""));
  EXPECT_EQ(error_of("device = 1979-05-27"), "line 1 of f.toml: device takes no table, date or time");
}

TEST(OptionFile, SaysWhereTheTextIsNoToml) {
  EXPECT_THAT(error_of("sessions = 64\nsessions = 65\n"), HasSubstr("line 2, column "));
  EXPECT_THAT(error_of("allow-origin = [\"a\","), HasSubstr(" of f.toml: "));
  EXPECT_THAT(error_of("device = \"\xff\""), HasSubstr("line 1, column "));
  EXPECT_THAT(error_of(std::string(1 << 20, '[')), HasSubstr("line 1, column "));
}

TEST(OptionFile, SaysWhyItCannotBeRead) {
  const test::TempFolder folder;
  EXPECT_EQ(read_option_file(Daemon::worker, folder.path()).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(read_option_file(Daemon::worker, folder / "none").status().code(), StatusCode::not_found);
}

TEST(OptionEnvironment, SetsOptionsByTheirNames) {
  const char* variables[] = {"BURN_SERVER_SESSION_LEASE=7",  "BURN_SERVER_INSECURE=1",
                             "BURN_SERVER_ALLOW_ORIGIN=a,b", "BURN_SERVER_PORT=tcp://10.0.0.1:3",
                             "BURN_ROUTER_WS=off",           "BURN_TOKEN=x",
                             "BURN_SERVER_CHECK_CONFIG=1",   nullptr};
  const auto read = read_option_environment(Daemon::worker, variables);
  EXPECT_EQ(read.unknown, (std::vector<std::string>{"BURN_SERVER_PORT", "BURN_SERVER_CHECK_CONFIG"}));
  OptionValues values;
  EXPECT_TRUE(set_options(read.given, values).ok());
  EXPECT_EQ(values.duration(Option::session_lease), 7s);
  EXPECT_TRUE(values.is_set(Option::insecure));
  EXPECT_EQ(values.list(Option::allow_origin), (std::vector<std::string>{"a", "b"}));
}

TEST(OptionEnvironment, AnErrorNamesTheVariable) {
  const char* variables[] = {"BURN_SERVER_SESSIONS=lots", nullptr};
  OptionValues values;
  EXPECT_EQ(set_options(read_option_environment(Daemon::worker, variables).given, values).message(),
            "BURN_SERVER_SESSIONS: sessions: \"lots\" is not a whole number");
}

TEST(OptionEnvironment, NamesAreOfTheDaemon) {
  EXPECT_EQ(environment_name(Daemon::worker, Option::session_lease), "BURN_SERVER_SESSION_LEASE");
  EXPECT_EQ(environment_name(Daemon::router, Option::ws), "BURN_ROUTER_WS");
}

class SourcesTest : public testing::Test {
 protected:
  CommandLine parse(std::vector<std::string> words) {
    words.insert(words.begin(), "burn-server");
    std::vector<const char*> pointers;
    for (const auto& word : words) pointers.push_back(word.c_str());
    environment_.push_back(nullptr);
    return parse_command_line(kWorker, static_cast<int>(pointers.size()), pointers.data(), environment_.data());
  }

  const test::TempFolder folder_;
  const std::string file_ =
      folder_.write("server.toml", "sessions = 10\nsession-lease = 11\nprograms = 12\nallow-origin = [\"a\"]\n")
          .string();
  std::vector<const char*> environment_;
};

TEST_F(SourcesTest, FlagsBeatTheEnvironmentWhichBeatsTheFileWhichBeatsDefaults) {
  environment_ = {"BURN_SERVER_SESSIONS=20", "BURN_SERVER_SESSION_LEASE=21", "BURN_SERVER_ALLOW_ORIGIN=b"};
  const auto line = parse({"--config", file_, "--sessions", "30", "--allow-origin", "c"});
  ASSERT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.values.number(Option::sessions), 30u);
  EXPECT_EQ(line.values.duration(Option::session_lease), 21s);
  EXPECT_EQ(line.values.number(Option::programs), 12u);
  EXPECT_EQ(line.values.number(Option::sessions_per_peer), 256u);
  EXPECT_EQ(line.values.list(Option::allow_origin), (std::vector<std::string>{"c"})) << "a list is replaced";
}

TEST_F(SourcesTest, TheEnvironmentMayNameTheFile) {
  const auto variable = "BURN_SERVER_CONFIG=" + file_;
  environment_ = {variable.c_str()};
  EXPECT_EQ(parse({}).values.number(Option::sessions), 10u);
}

TEST_F(SourcesTest, AnErrorEndsTheProgram) {
  environment_ = {"BURN_SERVER_SESSIONS=lots"};
  EXPECT_EQ(parse({}).exit_code, EXIT_FAILURE);
  EXPECT_EQ(parse({"--config", (folder_ / "none").string()}).exit_code, EXIT_FAILURE);
}

TEST_F(SourcesTest, AFlagThatIsNoneIsToldWithTheNearest) {
  const auto message_of = [&](std::vector<std::string> words) {
    environment_ = {};
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse(std::move(words)).exit_code, EXIT_FAILURE);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(message_of({"--sesions", "4"}),
            "burn-server: there is no option \"--sesions\"; the nearest is \"--sessions\"\n");
  EXPECT_EQ(message_of({"--sesion-lease=4", "--sessions", "4"}),
            "burn-server: there is no option \"--sesion-lease\"; the nearest is \"--session-lease\"\n");
  EXPECT_EQ(message_of({"--chekc-config"}),
            "burn-server: there is no option \"--chekc-config\"; the nearest is \"--check-config\"\n");
  EXPECT_EQ(message_of({"cuda:0"}), "burn-server: \"cuda:0\" is no option\n");
}

TEST_F(SourcesTest, UnknownVariablesAreToldAndNoError) {
  environment_ = {"BURN_SERVER_PORT=tcp://10.0.0.1:3000"};
  const auto line = parse({});
  EXPECT_FALSE(line.exit_code.has_value());
  EXPECT_EQ(line.warnings, (std::vector<std::string>{"BURN_SERVER_PORT names no option"}));
}

TEST_F(SourcesTest, WhatIsPrintedIsAFileWithTheSameValues) {
  environment_ = {"BURN_SERVER_PROGRAMS=20"};
  testing::internal::CaptureStdout();
  const auto line = parse({"--config", file_, "--print-config", "--device", "null"});
  const auto printed = testing::internal::GetCapturedStdout();
  EXPECT_EQ(line.exit_code, 0);
  EXPECT_THAT(printed, HasSubstr("device = \"null\"  # --device\n"));
  EXPECT_THAT(printed, HasSubstr("sessions = 10  # line 1 of "));
  EXPECT_THAT(printed, HasSubstr("programs = 20  # BURN_SERVER_PROGRAMS\n"));
  EXPECT_THAT(printed, HasSubstr("sessions-per-peer = 256  # default\n"));
  EXPECT_THAT(printed, HasSubstr("# threads is not set\n"));
  const auto again = values_of(printed);
  for (const auto& row : options()) {
    if (has_option(Daemon::worker, row.option) && !is_of_command_line(row.option)) {
      EXPECT_EQ(again.to_toml(row.option), line.values.to_toml(row.option)) << row.flag;
    }
  }
}

TEST_F(SourcesTest, ChecksFilesThatOptionsName) {
  EXPECT_EQ(parse({"--check-config", "--config", file_}).exit_code, 0);
  EXPECT_EQ(parse({"--check-config", "--token-file", (folder_ / "none").string()}).exit_code, EXIT_FAILURE);
}

TEST(Options, AreWhatTheDocumentSays) {
  constexpr const char* kPath = "docs/operate/options.md";  // tests run in the repository's root
  if (std::getenv("BURN_UPDATE_DOCS")) std::ofstream{kPath} << options_markdown();
  std::ostringstream written;
  written << std::ifstream{kPath}.rdbuf();
  EXPECT_EQ(written.str(), options_markdown()) << kPath << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace burn::daemon
