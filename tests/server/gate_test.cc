// burn-server's gate: who is let in, how many, and what is written about them.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/net/raw_socket.h"
#include "tests/proto/frames.h"
#include "tests/server/process.h"
#include "tests/support/sanitized.h"

namespace burn::server {
namespace {

using namespace std::chrono_literals;

const std::string kToken = "0123456789abcdef0123456789abcdef", kOther = "fedcba9876543210fedcba9876543210";

class TokenFile {
 public:
  explicit TokenFile(const std::string& text) { write(text); }
  ~TokenFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  void write(const std::string& text) const {
    std::ofstream{path_} << text;
    ::chmod(path_.c_str(), 0600);
  }

 private:
  const std::string path_ = fmt::format("/tmp/burn-tokens-{}", ::getpid());
};

// Over WebSocket and gRPC.
struct Running {
  explicit Running(std::vector<std::string> more, std::vector<std::string> before = {}) {
    std::vector<std::string> arguments = std::move(before);
    for (const char* one :
         {BURN_SERVER, "--device", "cpu", "--threads", "1", "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0"})
      arguments.emplace_back(one);
    arguments.insert(arguments.end(), more.begin(), more.end());
    process.emplace(arguments);
    for (auto& url : urls) url = process->read_line().substr(10);
    for (const auto& one : more) has_unix = has_unix || one == "--unix";
    if (has_unix) process->read_line();
  }
  std::string stop() {
    process->send(SIGTERM);
    exit_code = process->wait();
    return process->read_errors();
  }

  std::optional<Process> process;
  std::array<std::string, 2> urls;
  bool has_unix = false;
  int exit_code = -1;
};

Status try_to_connect(const std::string& url, const std::string& token = "") {
  return net::connect(url, {.token = token}).status();
}

// --- tokens ----------------------------------------------------------------------------------------------------------

TEST(BurnServerGate, LetsInWhoKnowsAToken) {
  const TokenFile file{"# of the team\n" + kToken + "\n\n  " + kOther + "  \r\n"};
  Running worker{{"--token-file", file.path()}};
  for (const auto& url : worker.urls) {
    EXPECT_EQ(try_to_connect(url).code(), StatusCode::unauthenticated) << url;
    EXPECT_EQ(try_to_connect(url, "0123456789abcdef0123456789abcdee").code(), StatusCode::unauthenticated);
    EXPECT_EQ(try_to_connect(url, kToken.substr(0, 31)).code(), StatusCode::unauthenticated);
    EXPECT_EQ(try_to_connect(url, "# of the team").code(), StatusCode::unauthenticated);
    EXPECT_TRUE(try_to_connect(url, kToken).ok()) << try_to_connect(url, kToken).to_string();
    EXPECT_TRUE(try_to_connect(url, kOther).ok());
  }
  file.write(kOther);
  worker.process->send(SIGHUP);
  for (int i = 0; i < 200 && try_to_connect(worker.urls[0], kToken).ok(); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(try_to_connect(worker.urls[0], kToken).code(), StatusCode::unauthenticated);
  EXPECT_TRUE(try_to_connect(worker.urls[1], kOther).ok());
  file.write("short\n");
  worker.process->send(SIGHUP);
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(try_to_connect(worker.urls[1], kOther).ok()) << "a file that makes no sense changes nothing";
  const auto log = worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
  EXPECT_EQ(log.find(kToken), std::string::npos) << "a token is nobody else's business";
}

TEST(BurnServerGate, TakesTheTokenFromTheEnvironment) {
  const TokenFile file{kToken};
  Running worker{{"--token-file", file.path()}};
  ::setenv("BURN_TOKEN", kToken.c_str(), 1);
  EXPECT_TRUE(try_to_connect(worker.urls[0]).ok());
  EXPECT_EQ(try_to_connect(worker.urls[0], kOther).code(), StatusCode::unauthenticated) << "the option comes first";
  ::unsetenv("BURN_TOKEN");
}

TEST(BurnServerGate, DoesNotStartWithAFileThatProtectsNothing) {
  const TokenFile file{"tooshort\n"};
  const auto refused = [&](const std::string& path) {
    Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--token-file", path}};
    const auto why = process.read_errors();
    EXPECT_EQ(process.wait(), 1) << why;
    return why;
  };
  EXPECT_NE(refused(file.path()).find("line 1 of the token file"), std::string::npos);
  file.write("\n# nothing\n");
  EXPECT_NE(refused(file.path()).find("there is no token in"), std::string::npos);
  file.write(kToken);
  ::chmod(file.path().c_str(), 0644);
  EXPECT_NE(refused(file.path()).find("everybody on this machine"), std::string::npos);
  EXPECT_NE(refused("/nowhere/tokens").find("cannot read the token file"), std::string::npos);
}

TEST(BurnServerGate, IsNotOpenToOtherMachinesWithoutATokenUnlessToldTo) {
  for (const char* flag : {"--ws", "--grpc"}) {
    const auto other = std::string{flag} == "--ws" ? "--grpc" : "--ws";
    for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
      Process process{{BURN_SERVER, "--device", "null", flag, address, other, "off"}};
      const auto why = process.read_errors();
      if (why.find("Address family not supported") != std::string::npos) continue;  // a machine without IPv6
      EXPECT_NE(why.find("no token is asked for"), std::string::npos) << why;
      EXPECT_EQ(process.wait(), 1);
    }
    Process insecure{{BURN_SERVER, "--device", "null", flag, "0.0.0.0:0", other, "off", "--insecure"}};
    EXPECT_EQ(insecure.read_line().rfind("listening ", 0), 0u);
  }
  const TokenFile file{kToken};
  Process process{{BURN_SERVER, "--device", "null", "--ws", "0.0.0.0:0", "--grpc", "off", "--token-file", file.path()}};
  EXPECT_EQ(process.read_line().rfind("listening ", 0), 0u);
}

// --- permits
// ----------------------------------------------------------------------------------------------------------

std::string hello(const std::string& client = "raw", const std::string& token = "") {
  const auto frame = proto::to_string(proto::encode({0, proto::Hello{.client = client, .token = token}, {}}));
  std::string message{"\x82"};
  if (frame.size() < 126) {
    message += static_cast<char>(0x80 | frame.size());
  } else {
    message += static_cast<char>(0x80 | 126);
    message += static_cast<char>(frame.size() >> 8);
    message += static_cast<char>(frame.size());
  }
  return message + std::string(4, '\0') + frame;
}

TEST(BurnServerGate, OnePeerDoesNotTakeAllSessions) {
  const auto path = fmt::format("/tmp/burn-gate-{}.sock", ::getpid());
  Running worker{{"--sessions", "12", "--sessions-per-peer", "3", "--unix", path}};
  std::vector<std::unique_ptr<net::RemoteSession>> held;
  Status refused;
  for (int i = 0; i < 10; ++i) {
    auto session = net::connect(worker.urls[static_cast<std::size_t>(i % 2)]);
    if (session.ok()) {
      held.push_back(*std::move(session));
    } else {
      refused = session.status();
    }
  }
  EXPECT_EQ(held.size(), 3u);
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted) << refused.to_string();
  EXPECT_NE(refused.message().find("127.0.0.1 has 3 sessions"), std::string::npos) << refused.to_string();
  // Another address of this machine is another peer.
  test::RawSocket other = test::RawSocket::connect(test::address_of(worker.urls[0]), 0, "127.0.0.2");
  ASSERT_NE(other.upgrade().find("101"), std::string::npos);
  other.write(hello());
  EXPECT_NE(other.read_some().find("burn-server"), std::string::npos) << "welcome";
  for (int i = 0; i < 5; ++i) {
    auto session = net::connect("unix:" + path);
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    held.push_back(*std::move(session));
  }
  held.erase(held.begin());
  Status again = unavailable("");
  for (int i = 0; i < 500 && !again.ok(); ++i) {
    again = try_to_connect(worker.urls[0]);
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(again.ok()) << again.to_string();
}

TEST(BurnServerGate, ASwarmFromOnePeerLocksNobodyOut) {
  Running worker{{"--sessions", "64", "--sessions-per-peer", "16"}};
  std::vector<test::RawSocket> swarm;
  for (int i = 0; i < 300; ++i) {
    swarm.push_back(test::RawSocket::connect(test::address_of(worker.urls[0]), 0, "127.0.0.3"));
    swarm.back().write(
        "GET / HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n" +
        hello());
  }
  for (const auto& url : worker.urls) {
    auto session = net::connect(url);
    EXPECT_TRUE(session.ok()) << session.status().to_string();
  }
}

// --- pages and logs --------------------------------------------------------------------------------------------------

TEST(BurnServerGate, PagesOfOthersMayNotConnect) {
  Running worker{{"--allow-origin", "https://example.org", "--allow-origin", "http://b.org:8080"}};
  const auto answer_to = [&](const std::string& header) {
    const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
    peer.write("GET / HTTP/1.1\r\nHost: worker:3000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + header +
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    return peer.read_some().substr(0, 12);
  };
  EXPECT_EQ(answer_to(""), "HTTP/1.1 101");
  EXPECT_EQ(answer_to("Origin: https://example.org\r\n"), "HTTP/1.1 101");
  EXPECT_EQ(answer_to("Origin: http://b.org:8080\r\n"), "HTTP/1.1 101");
  for (const char* origin : {"http://evil.net", "null", "http://worker:3000", "https://example.org.evil.net", ""}) {
    EXPECT_EQ(answer_to(fmt::format("Origin: {}\r\n", origin)), "HTTP/1.1 403") << origin;
  }
  EXPECT_EQ(answer_to("Origin: http://evil.net\r\nOrigin: https://example.org\r\n"), "HTTP/1.1 400");
}

TEST(BurnServerGate, WhatAClientSaysStaysWithinItsLine) {
  Running worker{{}};
  const auto say = [&](const std::string& bytes) {
    const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
    ASSERT_NE(peer.upgrade().find("101"), std::string::npos);
    peer.write(bytes);
    bool closed = false;
    peer.read_until_closed(1s, &closed);
  };
  const std::string forged = "x\n2026-01-01T00:00:00.000 info session s-99 opened from 1.2.3.4\x1b[2K\"";
  say(hello(forged));
  // A close frame that says something, before and after the hello.
  std::string reason{"\x03\xf3", 2};
  reason += "bye\n2026-01-01T00:00:00.000 info forged";
  std::string close{"\x88"};
  close += static_cast<char>(0x80 | reason.size());
  close += std::string(4, '\0') + reason;
  say(close);
  say(hello() + close);
  const auto log = worker.stop();
  EXPECT_NE(log.find("(\"x\\n2026-01-01T00:00:00.000 info session s-99 opened from 1.2.3.4\\x1b[2K\\\"\")"),
            std::string::npos)
      << log;
  EXPECT_EQ(log.find("\n2026-01-01"), std::string::npos) << log;
  EXPECT_EQ(log.find('\x1b'), std::string::npos);
  EXPECT_NE(log.find("bye\\n2026"), std::string::npos) << log;
}

TEST(BurnServerGate, ALogThatNobodyReadsStopsNobody) {
  Running worker{{}};
  for (int i = 0; i < 800; ++i) {  // of some 200 bytes each, into a pipe of 64 KiB
    const auto status = try_to_connect(worker.urls[0]);
    ASSERT_TRUE(status.ok()) << i << ": " << status.to_string();
  }
  worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
}

TEST(BurnServerGate, AStrangerSaysLittle) {
  Running worker{{}};
  const auto peer = test::RawSocket::connect(test::address_of(worker.urls[0]));
  ASSERT_NE(peer.upgrade().find("101"), std::string::npos);
  peer.write(std::string{"\x82\xff\0\0\0\0\0\x10\0\0\0\0\0\0", 14});  // a message of a mebibyte begins
  bool closed = false;
  const auto answer = peer.read_until_closed(10s, &closed);
  EXPECT_TRUE(closed);
  EXPECT_NE(answer.find("a frame of more than 65536 bytes"), std::string::npos) << answer;
}

// --- the end ---------------------------------------------------------------------------------------------------------

TEST(BurnServerGate, EndsAlsoWhenASessionDoesNot) {
  constexpr std::int64_t kSize = 2048;
  Running worker{{"--drain-timeout", "1"}};
  auto session = net::connect(worker.urls[0]);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  ir::ProgramBuilder builder;
  auto x = builder.add_input({ir::DType::f32, {kSize, kSize}});
  for (int i = 0; i < 4000; ++i) {  // minutes
    const ir::Ref operands[] = {x, x};
    x = *builder.add(ir::MatMul{}, operands);
  }
  EXPECT_TRUE((*session)->define(1, std::make_shared<const ir::Program>(builder.finish({x})), {}).ok());
  const ir::TensorType type{ir::DType::f32, {kSize, kSize}};
  EXPECT_TRUE((*session)->write(1, {type, SharedBytes::own(std::vector<std::uint8_t>(type.num_bytes()))}).ok());
  EXPECT_TRUE((*session)->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  std::this_thread::sleep_for(500ms);  // for it to begin
  const auto begin = std::chrono::steady_clock::now();
  worker.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_TRUE(worker.exit_code == 0 || worker.exit_code == 1) << worker.exit_code;
}

// --- what the system does not give -----------------------------------------------------------------------------------

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
      if (session.ok()) held.push_back(*std::move(session));
      refused += session.ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 0);
  for (const auto& url : worker.urls) expect_alive(url);
  worker.stop();
  EXPECT_EQ(worker.exit_code, 0);
}

TEST(BurnServerGate, LivesWithFewThreads) {
  if (::getuid() != 0) GTEST_SKIP() << "the limit is of a user, and this one has other processes";
  if (::access("/usr/bin/setpriv", X_OK) != 0) GTEST_SKIP() << "there is no setpriv";
  // A user that nobody is.
  const std::vector<std::string> before = {"/usr/bin/setpriv", "--reuid=64123", "--clear-groups", "/usr/bin/prlimit",
                                           "--nproc=40"};
  Process probe{{"/usr/bin/setpriv", "--reuid=64123", "--clear-groups", BURN_SERVER, "--version"}};
  if (probe.read_line().empty()) GTEST_SKIP() << "another user cannot read the program";
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
  if (!test::kSanitized) EXPECT_EQ(worker.exit_code, 0);  // the leak sanitizer wants one more process at the end
}

}  // namespace
}  // namespace burn::server
