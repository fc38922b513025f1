// burn-server, the program, where it is ended at bad moments, and on machines that lack something.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/remote/remote_session.h"
#include "tests/server/operated_server.h"
#include "tests/session/answers.h"
#include "tests/support/proxy.h"
#include "tests/support/temp_folder.h"

namespace burn::server {

using namespace session;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;
using testing::StartsWith;

// burn-server, started by a shell that does `before` first.
std::vector<std::string> after(const std::string& before, const std::string& addresses) {
  return {"/bin/sh", "-c", fmt::format("{} exec {} {}", before, BURN_SERVER, addresses)};
}

constexpr const char* kPort = "--ws 127.0.0.1:0 --grpc off";

std::string url_of(Process& process) {
  const auto line = process.read_line();
  EXPECT_THAT(line, StartsWith("listening "));
  return line.size() > 10 ? line.substr(10) : line;
}

void expect_served(const std::string& url) {
  const auto session = net::connect(url);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  EXPECT_TRUE((*session)->define(1, add_program({1000}), {}).ok());
  EXPECT_TRUE((*session)->write(1, tensor({1000}, std::vector<float>(1000, 1.5f))).ok());
  EXPECT_TRUE((*session)->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
  const auto sum = read(**session, 2);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(values(*sum), std::vector<float>(1000, 3.0f));
}

void expect_end(Process& process) {
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0) << process.read_errors();
}

// --- ended at bad moments --------------------------------------------------------------------------------------------

TEST(Life, ASignalWhileItStartsEndsIt) {
  for (int k = 0; k < 12; ++k) {
    Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off"}};
    std::this_thread::sleep_for(k * 7ms);
    const auto before = Clock::now();
    process.send(SIGTERM);
    EXPECT_THAT(process.wait(), testing::AnyOf(0, -SIGTERM)) << process.read_errors();
    EXPECT_LT(Clock::now() - before, 20s);
  }
}

TEST(Life, ASecondSignalEndsItAtOnce) {
  OperatedServer server{{"--drain-timeout", "600"}};
  const auto session = value_or_throw(net::connect(server.url()));
  EXPECT_FALSE(session->announced_end().has_value());
  EXPECT_TRUE(sync(*session).ok());  // it has heard that this client takes notices
  server.process().send(SIGTERM);
  for (int k = 0; k < 2000 && !session->announced_end(); ++k) std::this_thread::sleep_for(10ms);
  ASSERT_TRUE(session->announced_end().has_value()) << "it waits for the client";
  EXPECT_EQ(server.get("/readyz").status, 503);
  const auto before = Clock::now();
  server.process().send(SIGTERM);
  EXPECT_EQ(server.process().wait(), -SIGTERM);
  EXPECT_LT(Clock::now() - before, 5s);
}

TEST(Life, AnIdleWorkerEndsAtOnce) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0", "--drain-timeout", "600"}};
  const auto session = value_or_throw(net::connect(url_of(process)));  // that takes no notices
  const auto before = Clock::now();
  expect_end(process);
  EXPECT_LT(Clock::now() - before, 5s);
}

TEST(Life, AnUploadThatIsHalfWayHoldsNoWorker) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--drain-timeout", "2"}};
  const auto session = value_or_throw(net::connect(url_of(process)));
  constexpr std::int64_t kCount = std::int64_t{256} << 20;  // floats: 1 GiB
  std::thread upload{[&] { (void)session->write(1, tensor({kCount}, std::vector<float>(kCount))); }};
  for (int k = 0; k < 2000 && session->wire_stats().bytes_sent < (std::uint64_t{64} << 20); ++k)
    std::this_thread::sleep_for(5ms);
  const auto before = Clock::now();
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0) << process.read_errors();
  EXPECT_LT(Clock::now() - before, 12s);
  upload.join();
  EXPECT_FALSE(read(*session, 1).ok());
}

TEST(Life, KilledWhileItDrainsItStartsAgainWhereItWas) {
  const test::TempFolder folder;
  const auto socket = folder / "burn.sock";
  const std::vector<std::string> command{BURN_SERVER, "--ws", "127.0.0.1:0",     "--grpc", "off",
                                         "--unix",    socket, "--drain-timeout", "600"};
  Process process{command};
  const auto session = value_or_throw(net::connect(url_of(process)));
  EXPECT_FALSE(session->announced_end().has_value());
  EXPECT_TRUE(sync(*session).ok());
  process.send(SIGTERM);
  for (int k = 0; k < 2000 && !session->announced_end(); ++k) std::this_thread::sleep_for(10ms);
  process.send(SIGKILL);
  EXPECT_EQ(process.wait(), -SIGKILL);
  EXPECT_THAT(read(*session, 1).status().message(), HasSubstr("lost connection"));
  EXPECT_TRUE(std::filesystem::exists(socket)) << "nothing has taken it away";
  Process again{command};
  (void)url_of(again);
  expect_served(url_of(again));
  expect_end(again);
}

TEST(Life, ASessionThatIsWithoutAConnectionWhenAWorkerDrainsGoesOnAndIsWaitedFor) {
  OperatedServer server{{"--session-lease", "60", "--drain-timeout", "60"}};
  test::Proxy proxy{server.url().substr(std::string{"ws://"}.size())};
  const auto session = value_or_throw(net::connect("ws://" + proxy.address()));
  EXPECT_FALSE(session->announced_end().has_value());
  ASSERT_TRUE(session->define(1, add_program({1000}), {}).ok());
  ASSERT_TRUE(session->write(1, tensor({1000}, std::vector<float>(1000, 1.5f))).ok());
  ASSERT_TRUE(sync(*session).ok());
  proxy.refuse(true);
  proxy.cut();
  ASSERT_TRUE(session->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok()) << "it is kept";
  server.process().send(SIGTERM);
  for (int k = 0; k < 500 && server.get("/readyz").status != 503; ++k) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(300ms);  // the client is refused meanwhile
  proxy.refuse(false);
  const auto sum = read(*session, 2);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(values(*sum), std::vector<float>(1000, 3.0f));
  for (int k = 0; k < 500 && !session->announced_end(); ++k) std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(session->announced_end().has_value()) << "it hears of the drain when it is back";
  session->close();
  const auto before = Clock::now();
  EXPECT_EQ(server.process().wait(), 0) << server.process().read_errors();
  EXPECT_LT(Clock::now() - before, 20s) << "nothing else is waited for";
}

// --- machines that lack something ------------------------------------------------------------------------------------

TEST(Life, ServesWithoutAFolderForItsCache) {
  Process process{after("unset HOME; export XDG_CACHE_HOME=/nowhere;", kPort)};
  expect_served(url_of(process));
  expect_end(process);
}

// Whether a process may have mounts of its own here.
bool may_mount() {
  Process process{{"/bin/sh", "-c", "unshare -rm true"}};
  return process.wait() == 0;
}

TEST(Life, ServesWithAReadOnlyRoot) {
  if (!may_mount()) GTEST_SKIP() << "no mounts of its own";
  Process process{{"/usr/bin/unshare", "-rm", "/bin/sh", "-c",
                   fmt::format("mount --rbind / / && mount -o remount,bind,ro / && exec {} {}", BURN_SERVER, kPort)}};
  expect_served(url_of(process));
  expect_end(process);
}

TEST(Life, ServesWithoutSharedMemory) {
  if (!may_mount()) GTEST_SKIP() << "no mounts of its own";
  const test::TempFolder folder;
  std::filesystem::create_directory(folder / "empty");
  Process process{{"/usr/bin/unshare", "-rm", "/bin/sh", "-c",
                   fmt::format("mount --bind {0} /dev/shm && mount -o remount,bind,ro /dev/shm && exec {1} --ws off "
                               "--grpc off --unix {2}",
                               (folder / "empty").string(), BURN_SERVER, (folder / "burn.sock").string())}};
  expect_served(url_of(process));
  expect_end(process);
}

// The first line that is not taken says that the disk is full.
TEST(Life, WhereTheAuditLogHasNoRoomSessionsAreServedUnlessItIsRequired) {
  OperatedServer lenient{{"--audit-log", "/dev/full"}};
  for (int k = 0; k < 3; ++k) expect_served(lenient.url());
  for (int k = 0; k < 500 && lenient.metric("burn_audit_lines_lost_total") == "0"; ++k)
    std::this_thread::sleep_for(10ms);
  EXPECT_NE(lenient.metric("burn_audit_lines_lost_total"), "0");
  expect_served(lenient.url());
  expect_end(lenient.process());

  OperatedServer strict{{"--audit-log", "/dev/full", "--audit-required"}};
  Status refused;
  for (int k = 0; k < 500 && refused.ok(); ++k) {
    refused = net::connect(strict.url()).status();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("sessions are refused, as the audit log cannot be written"));
  EXPECT_EQ(strict.get("/healthz").status, 200) << "it is not the worker that is ill";
  strict.process().send(SIGTERM);
  EXPECT_EQ(strict.process().wait(), 0);
  EXPECT_THAT(strict.process().read_errors(), HasSubstr("/dev/full cannot be written: No space left on device"));
}

TEST(Life, With64DescriptorsItServesAFewClientsAndRefusesOthersWithASentence) {
  Process process{after("ulimit -n 64;", kPort)};
  const auto url = url_of(process);
  std::vector<std::unique_ptr<net::RemoteSession>> sessions;
  std::string refused;
  while (refused.empty() && sessions.size() < 64) {
    auto session = net::connect(url, {.timeout_seconds = 5});
    if (session.ok())
      sessions.push_back(*std::move(session));
    else
      refused = session.status().message();
  }
  EXPECT_GE(sessions.size(), 2u);
  EXPECT_THAT(refused, HasSubstr("connections"));
  for (const auto& session : sessions) EXPECT_TRUE(sync(*session).ok());
  sessions.clear();
  for (int k = 0; k < 100 && !net::connect(url).ok(); ++k) std::this_thread::sleep_for(50ms);
  expect_served(url);
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_THAT(process.read_errors(), HasSubstr("connections are limited to 4"));
}

}  // namespace
}  // namespace burn::server
