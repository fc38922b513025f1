// What a running burn-server does with options, and files that they name, when it is told to read them again.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/server/operated_server.h"
#include "tests/session/answers.h"
#include "tests/support/temp_folder.h"

namespace burn::server {

using namespace session;
namespace {

using testing::HasSubstr;

const std::string kOk = "burn_reloads_total{what=\"config\",result=\"ok\"}";
const std::string kRefused = "burn_reloads_total{what=\"config\",result=\"refused\"}";
constexpr const char* kToken = "a token for the reload test";

class BurnServerReload : public testing::Test {
 public:
  ~BurnServerReload() override { std::filesystem::remove_all(folder_); }

 protected:
  BurnServerReload() {
    std::string name = "/tmp/burn-reload-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    write_tokens(kToken);
    write("session-memory = \"1M\"\nlog-level = \"info\"\n");
  }

  std::string path() const { return folder_ + "/server.toml"; }
  std::string token_path() const { return folder_ + "/tokens"; }
  void write(const std::string& text) const { std::ofstream{path()} << text; }
  void write_tokens(const std::string& text) const {
    std::ofstream{token_path()} << text << '\n';
    ::chmod(token_path().c_str(), S_IRUSR | S_IWUSR);
  }
  std::vector<std::string> flags() const { return {"--config", path(), "--token-file", token_path()}; }

  // Whether a new session gets two megabytes.
  static bool has_room(const OperatedServer& server, const std::string& token = kToken) {
    constexpr std::int64_t kNumbers = 1 << 19;
    net::ConnectOptions options;
    options.token = token;
    const auto session = value_or_throw(net::connect(server.url(), options));
    return session->write(1, tensor({kNumbers}, std::vector<float>(kNumbers, 1))).ok() && read(*session, 1).ok();
  }

  std::string folder_;
};

TEST_F(BurnServerReload, TakesOverWhatMayChangeAndNamesWhatNeedsARestart) {
  OperatedServer server{flags()};
  EXPECT_FALSE(has_room(server));
  write("session-memory = \"1G\"\ndrain-timeout = 1\nthreads = 1\nidle-memory = \"1M\"\n");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "1");
  EXPECT_TRUE(has_room(server));
  server.process().send(SIGHUP);  // nothing is new but what needs a restart
  expect_metric(server, kOk, "2");
  server.process().send(SIGTERM);
  EXPECT_EQ(server.process().wait(), 0);
  const auto log = server.process().read_errors();
  EXPECT_THAT(log, HasSubstr("new values hold for session-memory, drain-timeout"));
  const std::string restart = "the new values of threads, idle-memory need a restart";
  const auto first = log.find(restart);
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_NE(log.find(restart, first + 1), std::string::npos) << log;
}

TEST_F(BurnServerReload, TheOptionsThatHeldArePutBack) {
  OperatedServer server{flags()};
  const auto put_back = [&] {
    Process rollback{{BURN_SERVER, "--rollback", "--config", path()}};
    return rollback.wait();
  };
  EXPECT_EQ(put_back(), 1) << "nothing is kept before a reload";
  write("session-memory = \"1G\"\n");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "1");
  write("session-memory = \"40Q\"\n");
  server.process().send(SIGHUP);
  expect_metric(server, kRefused, "1");
  ASSERT_EQ(put_back(), 0);
  EXPECT_EQ(test::TempFolder::read(path()), "session-memory = \"1G\"\n") << "what holds, where the last was refused";
  write("session-memory = \"2M\"\nsessions = 9\n");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "2");
  ASSERT_EQ(put_back(), 0);
  EXPECT_EQ(test::TempFolder::read(path()), "session-memory = \"1G\"\n");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "3");
  EXPECT_TRUE(has_room(server));
}

TEST_F(BurnServerReload, AFlagGoesOnToBeatTheFile) {
  auto with = flags();
  with.insert(with.end(), {"--session-memory", "1M"});
  const OperatedServer server{with};
  write("session-memory = \"1G\"\n");
  const_cast<OperatedServer&>(server).process().send(SIGHUP);
  expect_metric(server, kOk, "1");
  EXPECT_FALSE(has_room(server));
}

TEST_F(BurnServerReload, WhatIsWrongLeavesAllAsItWas) {
  OperatedServer server{flags()};
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"session-memory = \"1G\"\nsesions = 4\n", "there is no option \"sesions\"; the nearest is \"sessions\""},
      {"session-memory = \"40Q\"\n", "session-memory"},
      {"session-memory = \"1G\"\nsessions = 0\n", "sessions"},
      {"session-memory = \"1G\"\nsession-memory = \"2G\"\n", "line 2"},
      {"session-memory = \"1G\"\nlog-level = \"loud\"\n", "log-level"},
      {"session-memory = \"1G\"\nlog-format = \"xml\"\n", "log-format: text or json, not xml"},
      {"session-memory = \"1G\"\nallow-origin = [\"https://a", "line 2"},
      {"session-memory = \"1G\"\n# \xff\n", "server.toml"},
  };
  write_tokens("another token that would be fine");  // which is not to hold either
  int refused = 0;
  for (const auto& [text, says] : wrong) {
    write(text);
    server.process().send(SIGHUP);
    expect_metric(server, kRefused, std::to_string(++refused));
    EXPECT_FALSE(has_room(server)) << text;
  }
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  server.process().send(SIGHUP);
  expect_metric(server, kRefused, std::to_string(++refused));
  EXPECT_EQ(server.metric(kOk), "0");
  EXPECT_FALSE(has_room(server));
  server.process().send(SIGTERM);
  EXPECT_EQ(server.process().wait(), 0);
  const auto log = server.process().read_errors();
  for (const auto& [text, says] : wrong) EXPECT_THAT(log, HasSubstr(says));
  EXPECT_THAT(log, HasSubstr("server.toml is a folder"));
}

TEST_F(BurnServerReload, AFileOfTokensThatIsWrongLeavesTheOptionsToo) {
  OperatedServer server{flags()};
  write("session-memory = \"1G\"\n");
  write_tokens("short");
  server.process().send(SIGHUP);
  expect_metric(server, "burn_reloads_total{what=\"credentials\",result=\"refused\"}", "1");
  EXPECT_FALSE(has_room(server));
  write_tokens("another token that is fine");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "1");
  EXPECT_TRUE(has_room(server, "another token that is fine"));
}

TEST_F(BurnServerReload, TheLogBecomesLinesOfJson) {
  OperatedServer server{flags()};
  write("log-format = \"json\"\nlog-level = \"info\"\n");
  server.process().send(SIGHUP);
  expect_metric(server, kOk, "1");
  server.process().send(SIGTERM);
  EXPECT_EQ(server.process().wait(), 0);
  const auto log = server.process().read_errors();
  EXPECT_THAT(
      log, testing::ContainsRegex("\\{\"time\":\"20[0-9-]+T[0-9:.]+Z\",\"level\":\"info\",\"message\":\"done\"\\}\n"));
}

TEST_F(BurnServerReload, AThousandSignalsInASecondAreServed) {
  OperatedServer server{flags()};
  for (int k = 0; k < 1000; ++k) {
    server.process().send(SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  write("session-memory = \"1G\"\n");
  server.process().send(SIGHUP);
  for (int k = 0; k < 500 && !has_room(server); ++k) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_TRUE(has_room(server));
  EXPECT_EQ(server.metric(kRefused), "0");
  EXPECT_EQ(server.get("/healthz").status, 200);
}

}  // namespace
}  // namespace burn::server
