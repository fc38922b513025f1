// The server over real sockets: whatever comes, the others are served, and what is gone is freed.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/registry/registry.h"
#include "net/dial/connect.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/proto/frames.h"
#include "tests/server/process.h"
#include "tests/session/answers.h"
#include "tests/session/programs.h"
#include "tests/support/temp_folder.h"

namespace burn::server {

using namespace session;
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A tensor there, a sum, and back.
void expect_served(const std::string& url, std::int64_t size = 1000, float value = 1.5f) {
  auto session = net::connect(url);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  EXPECT_TRUE((*session)->define(1, add_program({size}), {}).ok());
  EXPECT_TRUE((*session)->write(1, tensor({size}, std::vector<float>(static_cast<std::size_t>(size), value))).ok());
  EXPECT_TRUE((*session)->run({.program = 1, .inputs = {1, 1}, .first_output = 2}).ok());
  const auto sum = read(**session, 2);
  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(values(*sum), std::vector<float>(static_cast<std::size_t>(size), 2 * value));
}

template <typename Condition>
bool soon(Condition condition) {
  for (const auto deadline = Clock::now() + seconds{20}; Clock::now() < deadline;) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds{5});
  }
  return false;
}

// A plain TCP connection to the port of "scheme://127.0.0.1:port".
class Socket {
 public:
  explicit Socket(const std::string& url) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  void send(const std::string& bytes) const { (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

 private:
  const int fd_;
};

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() {
    options_.drain_seconds = 5;
    options_.session_lease = 1;  // so long a killed client leaves something behind
  }
  Server& server() {
    if (!server_) server_ = std::make_unique<Server>(options_);
    return *server_;
  }
  bool is_empty() {
    return soon([&] { return server().connections() == 0 && server().memory_in_use() == 0; });
  }

  ServerOptions options_{.device = "cpu",
                         .ws = "127.0.0.1:0",
                         .grpc = "127.0.0.1:0",
                         .unix_path = fmt::format("/tmp/burn-test-{}.sock", getpid())};
  std::unique_ptr<Server> server_;
};

TEST_F(NetworkTest, ServesEveryTransport) {
  ASSERT_EQ(server().urls().size(), 3u);
  for (const auto& url : server().urls()) {
    SCOPED_TRACE(url);
    expect_served(url);
    expect_served(url, 5'000'000);  // 20 MB: in chunks, with credit
  }
  EXPECT_TRUE(is_empty());
}

TEST_F(NetworkTest, RandomBytesDoNoHarm) {
  std::mt19937 random{7};
  for (const std::size_t port : {0, 1}) {
    const auto url = server().urls()[port];
    for (int i = 0; i < 100; ++i) {
      std::string bytes(random() % 3000, '\0');
      for (auto& byte : bytes) byte = static_cast<char>(random());
      if (i % 4 == 0) bytes.insert(0, "GET / HTTP/1.1\r\nUpgrade: websocket\r\n");
      if (i % 4 == 1) bytes.insert(0, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      Socket{url}.send(bytes);
    }
    expect_served(url);
  }
  EXPECT_TRUE(is_empty());
}

TEST_F(NetworkTest, HalfOpenConnectionsAreNobodysProblem) {
  std::vector<std::unique_ptr<Socket>> sockets;
  for (const std::size_t port : {0, 1}) {
    for (int i = 0; i < 20; ++i) {
      sockets.push_back(std::make_unique<Socket>(server().urls()[port]));
      if (i % 2) sockets.back()->send(port == 0 ? "GET / HTTP/1.1\r\nHost: " : "PRI * HTTP/2.0\r\n");
    }
    expect_served(server().urls()[port]);
  }
  const auto begin = Clock::now();
  server().stop();
  EXPECT_LT(Clock::now() - begin, seconds{5});
}

// Collects what the server says.
class Listener final : public proto::ChannelHandler {
 public:
  void on_frame(SharedBytes bytes) override {
    const auto frame = value_or_throw(proto::decode(bytes));
    if (const auto* close = std::get_if<proto::Close>(&frame.body)) close_ = close->status;
  }
  void on_closed(Status) override { closed_.set_value(close_); }
  Status wait() { return closed_.get_future().get(); }

 private:
  Status close_;
  std::promise<Status> closed_;
};

TEST_F(NetworkTest, GarbageInAFrameIsAnsweredAndEndsTheConnection) {
  for (const auto& url : server().urls()) {
    const auto listener = std::make_shared<Listener>();
    const auto channel = value_or_throw(net::connect_channel(url, listener, seconds{5}));
    channel->send(proto::encode({0, proto::Hello{}, {}}), proto::Lane::control);
    channel->send({"not a frame", {}}, proto::Lane::control);
    const auto status = listener->wait();
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << url;
    EXPECT_NE(status.message().find("header"), std::string::npos) << status.to_string();
  }
  EXPECT_TRUE(is_empty());
}

TEST_F(NetworkTest, AConnectionWithoutAHelloIsClosed) {
  options_.hello_seconds = 1;
  const auto listener = std::make_shared<Listener>();
  const auto channel = value_or_throw(net::connect_channel(server().url(), listener, seconds{5}));
  EXPECT_EQ(listener->wait().code(), StatusCode::deadline_exceeded);
}

TEST_F(NetworkTest, TenClientsAtOnce) {
  const auto urls = server().urls();
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < 10; ++i) {
    clients.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) expect_served(urls[i % 3], 40'000, static_cast<float>(i));
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_TRUE(is_empty());
}

// Once its lease is over.
TEST_F(NetworkTest, AKilledClientLeavesNothingBehind) {
  for (const auto& url : server().urls()) {
    SCOPED_TRACE(url);
    Process client{{BURN_BUSY_CLIENT, url}};
    EXPECT_EQ(client.read_line(), "ready");
    EXPECT_GT(server().memory_in_use(), 0u);
    client.send(SIGKILL);
    EXPECT_EQ(client.wait(), -SIGKILL);
    EXPECT_TRUE(is_empty());
  }
}

TEST_F(NetworkTest, StoppingTellsTheClients) {
  auto session = value_or_throw(net::connect(server().url()));
  EXPECT_TRUE(session->write(1, tensor({1}, {1})).ok());
  EXPECT_TRUE(read(*session, 1).ok());
  server().stop();
  const auto status = read(*session, 1).status();
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_NE(status.message().find("shutting down"), std::string::npos) << status.to_string();
  EXPECT_FALSE(net::connect(server().url()).ok());
}

TEST_F(NetworkTest, AnAddressInUseIsOneSentence) {
  const auto address = server().url().substr(5);
  try {
    const Server second{{.device = "null", .ws = address}};
    FAIL() << "it listens twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::unavailable);
    EXPECT_EQ(std::string{error.what()}, "cannot listen on " + address + ": Address already in use");
  }
}

// --- burn-server, the program ----------------------------------------------------------------------------------------

TEST(BurnServer, FinishesWhatIsUnderWayWhenItIsTerminated) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--threads", "1"}};
  const auto line = process.read_line();
  ASSERT_EQ(line.rfind("listening ws://127.0.0.1:", 0), 0u) << line;
  auto session = value_or_throw(net::connect(line.substr(10)));
  constexpr std::int64_t kSize = 1024;
  ir::ProgramBuilder builder;
  auto x = builder.add_input(f32({kSize, kSize}));
  for (int i = 0; i < 12; ++i) {  // some 2 GFLOP each: 0.1 s on two cores, and within the 5 s also beside others
    const ir::Ref operands[] = {x, x};
    x = value_or_throw(builder.add(ir::MatMul{}, operands));
  }
  EXPECT_TRUE(session->define(1, std::make_shared<const ir::Program>(builder.finish({x})), {}).ok());
  EXPECT_TRUE(session->write(1, tensor({kSize, kSize}, std::vector<float>(kSize * kSize, 1.0f / kSize))).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  std::promise<Result<proto::HostTensor>> promise;
  session->read(2, [&](auto tensor) { promise.set_value(std::move(tensor)); });
  std::this_thread::sleep_for(milliseconds{30});  // for it to arrive
  process.send(SIGTERM);
  const auto tensor = promise.get_future().get();
  ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
  EXPECT_FLOAT_EQ(values(*tensor)[0], 1.0f / kSize);
  EXPECT_EQ(process.wait(), 0);
  const auto log = process.read_errors();
  EXPECT_NE(log.find("opened from 127.0.0.1:"), std::string::npos) << log;
  EXPECT_NE(log.find("1 programs, 1 runs, peak 12.0 MiB"), std::string::npos) << log;
}

// The singular values of a matrix, tensor 1, by LAPACK, which cannot be stopped: for ten seconds at least.
constexpr std::int64_t kUnstoppable = 3000;
ProgramPtr unstoppable() {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32({kUnstoppable, kUnstoppable}));
  const auto u = value_or_throw(builder.add(ir::Svd{}, {&x, 1}));
  return std::make_shared<const ir::Program>(builder.finish({u}));
}

void write_matrix(proto::Session& session) {
  std::vector<float> numbers(kUnstoppable * kUnstoppable);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  EXPECT_TRUE(session.write(1, tensor({kUnstoppable, kUnstoppable}, std::move(numbers))).ok());
  std::promise<void> there;
  session.sync([&](const Status&) { there.set_value(); });
  there.get_future().wait();
}

TEST(BurnServer, TellsInTimeOfARunThatCannotBeStoppedAndEndsAllTheSame) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--threads", "1", "--run-timeout", "1"}};
  auto session = value_or_throw(net::connect(process.read_line().substr(10)));
  EXPECT_TRUE(session->define(1, unstoppable(), {}).ok());
  write_matrix(*session);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  const auto status = read(*session, 2).status();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds{3000});
  EXPECT_EQ(status.code(), StatusCode::deadline_exceeded) << status.to_string();
  // The session goes on, but not with another of these.
  EXPECT_TRUE(session->write(10, tensor({1}, {1})).ok());
  EXPECT_TRUE(read(*session, 10).ok());
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 3}).ok());
  const auto refused = read(*session, 3).status();
  EXPECT_EQ(refused.code(), StatusCode::resource_exhausted) << refused.to_string();
  EXPECT_NE(refused.message().find("could not be stopped and still computes"), std::string::npos)
      << refused.to_string();
  session = nullptr;

  const auto end = std::chrono::steady_clock::now();
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - end, std::chrono::seconds{3});
  const auto log = process.read_errors();
  EXPECT_NE(log.find("done; 1 runs that could not be stopped end with the process"), std::string::npos) << log;
}

TEST(BurnServer, DoesNotDrainLongerThanItIsTold) {
  Process process{{BURN_SERVER, "--ws", "127.0.0.1:0", "--grpc", "off", "--threads", "1", "--drain-timeout", "1"}};
  auto session = value_or_throw(net::connect(process.read_line().substr(10)));
  EXPECT_TRUE(session->define(1, unstoppable(), {}).ok());
  write_matrix(*session);
  EXPECT_TRUE(session->run({.program = 1, .inputs = {1}, .first_output = 2}).ok());
  std::promise<Status> told;
  session->read(2, [&](auto tensor) { told.set_value(tensor.status()); });
  std::this_thread::sleep_for(milliseconds{300});
  const auto begin = std::chrono::steady_clock::now();
  process.send(SIGTERM);
  const auto status = told.get_future().get();
  EXPECT_NE(status.message().find("shutting down"), std::string::npos) << status.to_string();
  EXPECT_EQ(process.wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{4});
}

TEST(BurnServer, SaysInOneSentenceWhyItDoesNotStart) {
  Server server{{.device = "null", .ws = "127.0.0.1:0"}};
  const auto address = server.url().substr(5);
  Process taken{{BURN_SERVER, "--ws", address, "--grpc", "off"}};
  EXPECT_EQ(taken.read_errors(), "burn-server: cannot listen on " + address + ": Address already in use\n");
  EXPECT_EQ(taken.wait(), 1);
  Process unknown{{BURN_SERVER, "--device", "tpu"}};
  const auto why = unknown.read_errors();
  EXPECT_NE(why.find("\"tpu\""), std::string::npos) << why;
  EXPECT_NE(why.find("cpu, cuda, null"), std::string::npos) << why;
  EXPECT_EQ(unknown.wait(), 1);
}

TEST(BurnServer, ListensOnNoUnixSocketThatIsOff) {
  const test::TempFolder folder;  // where a socket would be made
  Process process{{"/usr/bin/env", "-C", folder.path().string(), BURN_SERVER, "--device", "null", "--ws", "127.0.0.1:0",
                   "--grpc", "off", "--unix", "off", "--grpc-unix", "off"}};
  EXPECT_EQ(process.read_line().rfind("listening ws://", 0), 0u);
  process.send(SIGTERM);
  EXPECT_EQ(process.read_line(), "") << "there is no other socket";
  EXPECT_EQ(process.wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(BurnServer, TakesSizesWithUnitsAndNothingElse) {
  for (const auto* size : {"0", "1000", "512M", "2G", "64MiB"}) {
    Process process{{BURN_SERVER, "--device", "null", "--ws", "127.0.0.1:0", "--grpc", "off", "--idle-memory", size}};
    EXPECT_EQ(process.read_line().rfind("listening ", 0), 0u) << size;
  }
  for (const auto* size : {"lots", "5Q", "-1", "1.5G"}) {
    Process process{{BURN_SERVER, "--device", "null", "--ws", "127.0.0.1:0", "--grpc", "off", "--idle-memory", size}};
    EXPECT_NE(process.read_errors().find("--idle-memory"), std::string::npos) << size;
    EXPECT_NE(process.wait(), 0) << size;
  }
}

TEST(BurnServer, ChecksTheMachineWithoutServing) {
  Process process{{BURN_SERVER, "--check", "--device", "null:1,cpu", "--threads", "1"}};
  std::vector<std::string> lines;
  for (auto line = process.read_line(); !line.empty(); line = process.read_line()) lines.push_back(line);
  EXPECT_EQ(process.wait(), 0);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0].rfind("burn-server ", 0), 0u);
  const auto starts = [&](const std::string& with) {
    return std::ranges::any_of(lines, [&](const std::string& line) { return line.starts_with(with); });
  };
  for (const auto* fact :
       {"cpu: built in", "null: built in", "cuda: ", "cache: ", "can serve: null:1, ", "can serve: cpu, "})
    EXPECT_TRUE(starts(fact)) << fact;
  EXPECT_FALSE(starts("listening ") || starts("cannot serve"));
}

TEST(BurnServer, FailsACheckOfDevicesThatAreNotThere) {
  const auto lines_of = [](const char* devices) {
    Process process{{BURN_SERVER, "--check", "--device", devices}};
    std::string all;
    for (auto line = process.read_line(); !line.empty(); line = process.read_line()) all += line + "\n";
    EXPECT_EQ(process.wait(), 1) << all;
    return all;
  };
  EXPECT_NE(lines_of("cpu,null:99").find("cannot serve: null:99: no device \"null:99\""), std::string::npos);
  EXPECT_NE(lines_of("cpu,,").find("cannot serve: an empty name among the devices"), std::string::npos);
  if (backends::open_backend("cuda").ok()) GTEST_SKIP() << "there is a GPU here";
  for (const auto* devices : {"cuda:0", "cuda:all"}) {
    const auto lines = lines_of(devices);
    EXPECT_TRUE(lines.find("cannot serve: cuda:0: no CUDA here: ") != std::string::npos ||
                lines.find("cannot serve: the cuda backend is not installed") != std::string::npos ||
                lines.find("cannot serve: cuda:0: the cuda backend is not installed") != std::string::npos)
        << lines;
  }
}

TEST(BurnServer, TellsItsVersion) {
  Process process{{BURN_SERVER, "--version"}};
  EXPECT_EQ(process.read_line().rfind("burn-server ", 0), 0u);
  EXPECT_EQ(process.wait(), 0);
}

}  // namespace
}  // namespace burn::server
