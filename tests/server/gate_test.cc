// burn-server's gate: which clients are let in, and how many.
#include "tests/server/gate.h"

#include <chrono>
#include <thread>

#include "server/worker_host.h"
#include "tests/net/raw_socket.h"

namespace burn::server {
namespace {

using namespace std::chrono_literals;

// --- tokens ----------------------------------------------------------------------------------------------------------

TEST(BurnServerGate, LetsInAClientWithAToken) {
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
  EXPECT_EQ(log.find(kToken), std::string::npos) << "a token is a secret";
}

TEST(BurnServerGate, RefusedTokensDoNotFillTheLog) {
  const TokenFile tokens{kToken + "\n"};
  Running worker{{"--token-file", tokens.path()}};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 60; ++i) {
    const auto status = try_to_connect(worker.urls[static_cast<std::size_t>(i % 2)], kOther);
    EXPECT_EQ(status.code(), StatusCode::unauthenticated) << status.to_string();
  }
  const auto log = worker.stop();
  const auto periods = (std::chrono::steady_clock::now() - begin) / WorkerHost::kLinePeriod + 1;
  std::size_t lines = 0;
  for (auto at = log.find("closed before its hello"); at != log.npos; at = log.find("closed before its hello", at + 1))
    ++lines;
  EXPECT_GE(lines, WorkerHost::kMaxLines) << log;
  EXPECT_LE(lines, WorkerHost::kMaxLines * static_cast<std::size_t>(periods)) << log;
}

// Each in the place for those that come back, which is free again afterwards.
TEST(BurnServerGate, AtTheLimitOfConnectionsAClientIsToldWhy) {
  const auto path = fmt::format("/tmp/burn-full-{}.sock", ::getpid());
  Running worker{{"--sessions", "4", "--sessions-per-peer", "4", "--unix", path}};
  constexpr int kOfOnePeer = 20;                 // sixteen more than sessions
  std::vector<test::RawSocket> unauthenticated;  // that have not said hello
  for (int i = 0; i < kOfOnePeer; ++i)
    unauthenticated.push_back(test::RawSocket::connect(test::address_of(worker.urls[0])));
  std::this_thread::sleep_for(200ms);
  for (int round = 0; round < 3; ++round) {
    for (const auto& url : worker.urls) {
      const auto status = try_to_connect(url);
      EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.to_string();
      EXPECT_NE(status.message().find("127.0.0.1 has 20 connections, and at most 20 may be"), std::string::npos)
          << status.to_string();
      std::this_thread::sleep_for(100ms);
    }
  }
  EXPECT_TRUE(try_to_connect("unix:" + path).ok());  // not counted for a peer
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
  EXPECT_NE(refused(file.path()).find("other users of this machine"), std::string::npos);
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

// --- permits ---------------------------------------------------------------------------------------------------------

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

TEST(BurnServerGate, ASwarmFromOnePeerLocksNoOtherOut) {
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

}  // namespace
}  // namespace burn::server
