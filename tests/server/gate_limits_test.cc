// burn-server where the system gives it little: descriptors, memory, threads.
#include <chrono>
#include <thread>

#include "tests/net/raw_socket.h"
#include "tests/server/gate.h"
#include "tests/support/sanitized.h"

namespace burn::server {
namespace {

using namespace std::chrono_literals;

void expect_alive(const std::string& url) {
  Status status;
  for (int i = 0; i < 500; ++i) {
    status = try_to_connect(url);
    if (status.ok()) return;
    std::this_thread::sleep_for(20ms);
  }
  ADD_FAILURE() << url << ": " << status.to_string();
}

TEST(BurnServerGate, LivesWithFewDescriptors) {
  Running worker{{}, {"/usr/bin/prlimit", "--nofile=128"}};
  {
    std::vector<test::RawSocket> crowd;
    for (int round = 0; round < 400; ++round) {
      for (const auto& url : worker.urls) crowd.push_back(test::RawSocket::connect(test::address_of(url)));
    }
    std::this_thread::sleep_for(500ms);
  }
  for (const auto& url : worker.urls) expect_alive(url);
  worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
}

TEST(BurnServerGate, LivesWithLittleMemory) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer needs more";
  Running worker{{"--sessions", "1000", "--sessions-per-peer", "1000"},
                 {"/usr/bin/prlimit", fmt::format("--as={}", std::uint64_t{1536} << 20)}};
  int refused = 0;
  {
    std::vector<std::unique_ptr<net::RemoteSession>> held;
    for (int i = 0; i < 300; ++i) {
      auto session = net::connect(worker.urls[static_cast<std::size_t>(i % 2)], {.timeout_seconds = 2});
      if (session.ok())
        held.push_back(*std::move(session));
      else
        ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  for (const auto& url : worker.urls) expect_alive(url);
  worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
}

// The command that runs a program with at most `most` threads. The limit is per user, so it runs as a user without
// other processes. Empty if that is not possible.
std::vector<std::string> with_threads(int most) {
  if (::getuid() != 0 || ::access("/usr/bin/setpriv", X_OK) != 0) return {};
  const std::vector<std::string> user = {"/usr/bin/setpriv", "--reuid=64123", "--clear-groups"};
  std::vector<std::string> probe = user, before = user;
  probe.insert(probe.end(), {"/usr/bin/test", "-x", BURN_SERVER});
  before.insert(before.end(), {"/usr/bin/prlimit", fmt::format("--nproc={}", most)});
  return Process{probe}.wait() == 0 ? before : std::vector<std::string>{};
}

TEST(BurnServerGate, LivesWithFewThreads) {
  // gRPC has some for each core.
  const auto before = with_threads(40 + static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)));
  if (before.empty()) GTEST_SKIP() << "another user cannot run the program from here";
  Running worker{{}, before};
  Status refused;
  {
    std::vector<std::unique_ptr<net::RemoteSession>> held;
    for (int i = 0; i < 100; ++i) {
      auto session = net::connect(worker.urls[static_cast<std::size_t>(i % 2)]);
      if (session.ok()) {
        held.push_back(*std::move(session));
      } else {
        refused = session.status();
      }
    }
  }
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted) << refused.to_string();
  EXPECT_NE(refused.message().find("no thread"), std::string::npos) << refused.to_string();
  for (const auto& url : worker.urls) expect_alive(url);
  worker.stop();
  if (!test::kSanitized) {
    EXPECT_EQ(worker.exit_code, 0);  // the leak sanitizer wants one more process at the end
  }
}

TEST(BurnServerGate, DoesNotBeginWithFewerThreadsThanItNeeds) {
  for (const int most : {10, 14}) {  // with the second, gRPC waited for ever
    auto arguments = with_threads(most);
    if (arguments.empty()) GTEST_SKIP() << "another user cannot run the program from here";
    arguments.insert(arguments.end(), {BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0"});
    Process worker{arguments};
    const auto errors = worker.read_errors();
    EXPECT_NE(errors.find("threads are needed to begin with"), std::string::npos) << errors;
    EXPECT_EQ(worker.wait(), 1);
  }
}

}  // namespace
}  // namespace burn::server
