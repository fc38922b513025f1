// What HTTP/2 lets a peer do: message packing, calls without end, watches, and no descriptors for a while.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/net/raw_http2.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"
#include "tests/support/sanitized.h"

namespace burn::test {
namespace {

constexpr std::string_view kConnect = "/burn.v1.Worker/Connect", kWatch = "/grpc.health.v1.Health/Watch";

class HostileGrpc : public testing::Test {
 protected:
  void serve(const net::ListenOptions& options = {}) {
    auto listener = listen(Transport::grpc, echo_, options);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  RawSocket connect() const {
    auto peer = RawSocket::connect(address_of(listener_->url()));
    peer.write(http2::preface());
    return peer;
  }
  void expect_alive() {
    const auto client = std::make_shared<Recorder>();
    const auto channel = must_connect(listener_->url(), client);
    channel->send(frame("hello"), proto::Lane::control);
    EXPECT_TRUE(client->wait_for_frames(1));
  }

  TestAcceptor echo_{true};
  std::unique_ptr<net::Listener> listener_;
};

// `bytes` zeros, compressed by gzip to about a thousandth of the size.
std::string packed_zeros(std::size_t bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
  const std::string zeros(1 << 20, '\0');
  std::string out(bytes / 500 + 4096, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  for (std::size_t done = 0; done < bytes; done += zeros.size()) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
    stream.avail_in = static_cast<uInt>(zeros.size());
    EXPECT_EQ(deflate(&stream, done + zeros.size() < bytes ? Z_NO_FLUSH : Z_FINISH) >= Z_OK, true);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(HostileGrpc, APackedMessageIsNotUnpacked) {
  serve();
  const std::string packed = packed_zeros(std::size_t{256} << 20);
  const auto before = resident();
  const RawSocket peer = connect();
  peer.write(http2::call(1, kConnect, http2::header("grpc-encoding", "gzip")));
  const std::string message = http2::message_head(true, static_cast<std::uint32_t>(packed.size())) + packed;
  for (std::size_t at = 0; at < message.size(); at += 16384) {
    if (!peer.write(http2::frame(http2::Type::data, 0, 1, std::string_view{message}.substr(at, 16384)))) break;
  }
  bool closed = false;
  peer.read_until_closed(1s, &closed);  // whatever it answers
  EXPECT_LT(resident(), before + (std::size_t{64} << 20));
  for (std::size_t i = 0; i < echo_.client_count(); ++i) EXPECT_EQ(echo_.client(i)->frame_count(), 0u);
  expect_alive();
}

// Writes up to `count` calls, until the server closes the connection; returns how many were written. Expects that the
// writer does not stay blocked, even if the server stops reading.
template <typename Text>
int write_calls(const RawSocket& peer, int count, Text text) {
  const auto began = std::chrono::steady_clock::now();
  std::atomic<bool> is_done = false;
  std::thread reader{[&] {
    while (!is_done && !peer.read_some(65536).empty()) {
    }
  }};
  std::string block;
  int written = 0;
  for (; written < count; ++written) {
    block += text(static_cast<std::uint32_t>(1 + 2 * written));
    if (block.size() < 32768) continue;
    if (!peer.write(block)) break;
    block.clear();
  }
  const bool is_open = peer.write(block);
  is_done = true;
  ::shutdown(peer.descriptor(), SHUT_RDWR);
  reader.join();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 50s);
  return is_open ? count : written;
}

// The memory that 100,000 calls may leave in use; sanitizers need more, for their records of all memory ever used.
constexpr std::size_t kMaxKept = std::size_t{test::kSanitized ? 512 : 128} << 20;

TEST_F(HostileGrpc, CallsWithoutEndAreTheEndOfTheirConnection) {
  serve();
  const RawSocket peer = connect();
  const auto before = resident();
  constexpr int kCalls = 100'000;
  EXPECT_LT(write_calls(peer, kCalls,
                        [](std::uint32_t stream) { return http2::call(stream, kConnect) + http2::reset(stream); }),
            kCalls);
  EXPECT_LT(resident(), before + kMaxKept);
  expect_alive();
}

TEST_F(HostileGrpc, WatchesAreCounted) {
  serve();
  const RawSocket peer = connect();
  const auto before = resident();
  constexpr int kCalls = 100'000;
  const std::string question = http2::message_head(false, 0);
  write_calls(peer, kCalls, [&](std::uint32_t stream) {
    return http2::call(stream, kWatch) + http2::frame(http2::Type::data, http2::kEndStream, stream, question);
  });
  EXPECT_LT(resident(), before + kMaxKept);
  expect_alive();
}

// Each ping has an answer, which is queued until the peer reads it.
TEST_F(HostileGrpc, PingsWhoseAnswersAreNotReadAreNotHeld) {
  serve();
  std::string pings;
  for (int i = 0; i < 50'000; ++i) pings += http2::frame(http2::Type::ping, 0, 0, "12345678");
  const auto before = resident();
  std::vector<RawSocket> peers;
  std::vector<std::thread> threads;
  peers.reserve(16);
  threads.reserve(16);
  for (int i = 0; i < 16; ++i) peers.push_back(connect());
  for (const auto& peer : peers) {
    threads.emplace_back([&] {
      int rounds = 0;
      while (rounds < 40 && peer.write(pings)) ++rounds;
      EXPECT_LT(rounds, 40);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LT(resident(), before + kMaxKept);
  peers.clear();
  expect_alive();
}

// The listener is in this process, so the limit is this process's.
TEST_F(HostileGrpc, GoesOnWhenThereAreDescriptorsAgain) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer looks at memory through a pipe, which takes descriptors";
  serve();
  expect_alive();
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  std::vector<net::UniqueFd> waiting;
  for (int i = 0; i < 8; ++i) waiting.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const net::UniqueFd highest{::fcntl(0, F_DUPFD_CLOEXEC, 0)};
  const rlimit low{.rlim_cur = static_cast<rlim_t>(highest.get()), .rlim_max = old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  for (const auto& socket : waiting) RawSocket::connect(socket, address_of(listener_->url()));
  std::this_thread::sleep_for(500ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  expect_alive();
}

TEST_F(HostileGrpc, ConnectionsOfAPeerAreCountedUntilTheyAreOver) {
  serve({.max_connections = 4, .handshake_timeout_seconds = 20});
  const auto fill = [&] {
    std::vector<RawSocket> peers;
    for (int i = 0; i < 20; ++i) peers.push_back(RawSocket::connect(address_of(listener_->url())));
    std::this_thread::sleep_for(200ms);
    int open = 0;
    for (const auto& peer : peers) open += peer.is_open() ? 1 : 0;
    return open;
  };
  EXPECT_EQ(fill(), 6) << "four, and two to be told that there are no more";
  EXPECT_TRUE(eventually([&] { return fill() == 6; })) << "their places are free again";
  std::this_thread::sleep_for(200ms);
  expect_alive();
}

}  // namespace
}  // namespace burn::test
