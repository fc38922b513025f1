// The two ends of a connection in shared memory, and what either does to a peer that lies or vanishes.
#include "net/transport/shared_stream.h"

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace burn::net {
namespace {

using testing::HasSubstr;
using Transfer = SharedStream::Transfer;

bool is_readable(int fd, int milliseconds = 0) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

class SharedStreams : public testing::Test {
 protected:
  SharedStreams() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    for (std::size_t i = 0; i < 2; ++i) sockets_[i] = UniqueFd{pair[i]};
    auto mine = SharedMemory::create(&memory_);
    EXPECT_TRUE(mine.ok()) << mine.status().to_string();
    server_ = std::make_unique<SharedStream>(*std::move(mine), SharedStream::Side::maker, pair[0]);
    client_ = std::make_unique<SharedStream>(map(), SharedStream::Side::other, pair[1]);
  }

  SharedMemory map() { return *SharedMemory::open(memory_); }

  static Transfer write(SharedStream& stream, std::string_view text) {
    const iovec part{const_cast<char*>(text.data()), text.size()};
    return stream.write({&part, 1});
  }
  static std::string read(SharedStream& stream, std::size_t most = 100) {
    std::string text(most, '\0');
    const iovec part{text.data(), text.size()};
    last_ = stream.read({&part, 1});
    text.resize(last_.bytes);
    return text;
  }

  UniqueFd memory_;
  UniqueFd sockets_[2];
  std::unique_ptr<SharedStream> server_, client_;
  static inline thread_local Transfer last_;
};

TEST_F(SharedStreams, CarryBytesBothWays) {
  EXPECT_EQ(write(*client_, "ping").bytes, 4u);
  EXPECT_TRUE(server_->has_input());
  EXPECT_EQ(read(*server_), "ping");
  EXPECT_EQ(write(*server_, "pong").bytes, 4u);
  EXPECT_EQ(read(*client_), "pong");
  EXPECT_FALSE(client_->has_input());
}

TEST_F(SharedStreams, TakeWhatFitsAndWaitForRoom) {
  const std::string much(3 * SharedMemory::kRingBytes, 'x');
  EXPECT_EQ(write(*client_, much).bytes, SharedMemory::kRingBytes);
  EXPECT_TRUE(write(*client_, much).would_block());
  EXPECT_TRUE(client_->waits_for_space());
  EXPECT_EQ(read(*server_, SharedMemory::kRingBytes / 4).size(), SharedMemory::kRingBytes / 4);
  EXPECT_FALSE(is_readable(sockets_[1].get())) << "a quarter is not worth it";
  EXPECT_EQ(read(*server_, SharedMemory::kRingBytes / 4).size(), SharedMemory::kRingBytes / 4);
  EXPECT_TRUE(is_readable(sockets_[1].get()));
  client_->on_wake();
  EXPECT_FALSE(client_->waits_for_space());
  EXPECT_EQ(write(*client_, much).bytes, SharedMemory::kRingBytes / 2);
}

TEST_F(SharedStreams, RingTheBellForASleeperOnly) {
  EXPECT_EQ(read(*server_), "");
  EXPECT_TRUE(last_.would_block());
  EXPECT_EQ(write(*client_, "a").bytes, 1u);
  EXPECT_FALSE(is_readable(sockets_[0].get()));
  EXPECT_FALSE(server_->waits_for_input());
  EXPECT_EQ(read(*server_), "a");
  EXPECT_TRUE(server_->waits_for_input());
  EXPECT_EQ(write(*client_, "b").bytes, 1u);
  EXPECT_TRUE(is_readable(sockets_[0].get()));
  server_->on_wake();
  EXPECT_EQ(write(*client_, "c").bytes, 1u);
  EXPECT_FALSE(is_readable(sockets_[0].get()));
  EXPECT_EQ(read(*server_), "bc");
}

TEST_F(SharedStreams, EndWhereTheWriterStopsWriting) {
  EXPECT_EQ(write(*client_, "last words").bytes, 10u);
  client_->close_writing();
  EXPECT_EQ(read(*server_), "last words");
  EXPECT_FALSE(server_->waits_for_input());
  EXPECT_EQ(read(*server_), "");
  EXPECT_EQ(last_.error, 0);
  EXPECT_EQ(write(*server_, "heard").bytes, 5u) << "the other direction is still there";
  EXPECT_EQ(read(*client_), "heard");
}

TEST_F(SharedStreams, WhatAPeerWroteBeforeItVanishedIsStillRead) {
  EXPECT_EQ(write(*client_, "last words").bytes, 10u);
  client_.reset();
  sockets_[1] = {};
  EXPECT_FALSE(server_->waits_for_input());
  server_->on_wake();
  EXPECT_EQ(read(*server_), "last words");
  EXPECT_EQ(read(*server_), "");
  EXPECT_FALSE(last_.would_block());
  EXPECT_EQ(write(*server_, "to a closed peer").error, EPIPE);
  EXPECT_FALSE(server_->waits_for_space());
}

TEST_F(SharedStreams, APeerThatWritesNonsenseBreaksTheConnection) {
  SharedMemory hostile = map();
  hostile.control(1).written = std::uint64_t{1} << 40;
  EXPECT_FALSE(server_->waits_for_input());
  read(*server_);
  EXPECT_EQ(last_.error, EPROTO);
  EXPECT_EQ(write(*server_, "anything").error, EPROTO);

  hostile.control(1).read = 7;  // the client's own, which it does not look at
  hostile.control(0).read = 7;
  hostile.control(0).written = 0;
  read(*client_);
  EXPECT_TRUE(last_.would_block());
  write(*client_, "anything");
  EXPECT_EQ(write(*client_, std::string(2 * SharedMemory::kRingBytes, 'x')).error, EPROTO);
  read(*client_);
  EXPECT_EQ(last_.error, EPROTO);
}

TEST_F(SharedStreams, EndsThatSleepWheneverTheyMayLoseNothing) {
  constexpr int kMessages = 20'000;
  const auto run = [&](SharedStream& stream, int socket) {  // sends numbers, and checks those that come
    int sent = 0, seen = 0;
    std::string rest;
    while (seen < kMessages) {
      bool idle = true;
      while (sent < kMessages && sent - seen < 50) {
        const std::string message = std::to_string(sent) + ";";
        if (write(stream, message).bytes == 0) break;
        ++sent;
        idle = false;
      }
      for (rest += read(stream, 64); rest.find(';') != std::string::npos; ++seen, idle = false) {
        ASSERT_EQ(rest.substr(0, rest.find(';')), std::to_string(seen));
        rest.erase(0, rest.find(';') + 1);
      }
      if (!idle || last_.bytes > 0 || !stream.waits_for_input()) continue;
      ASSERT_TRUE(is_readable(socket, 20'000)) << "asleep for good";
      stream.on_wake();
    }
  };
  std::thread peer([&] { run(*client_, sockets_[1].get()); });
  run(*server_, sockets_[0].get());
  peer.join();
}

TEST_F(SharedStreams, FillOnePartBeforeTheNext) {
  constexpr std::uint32_t kNumbers = 1'000'000;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < kNumbers;)
      i += write(*client_, {reinterpret_cast<const char*>(&i), sizeof i}).bytes / sizeof i;
  });
  std::array<std::uint32_t, 64> numbers{};
  std::array<iovec, 64> parts;
  for (std::size_t i = 0; i < 64; ++i) parts[i] = {&numbers[i], sizeof numbers[i]};
  std::uint32_t next = 0, wrong = 0;
  while (next < kNumbers) {
    const std::size_t count = server_->read(parts).bytes / sizeof next;
    for (std::size_t i = 0; i < count; ++i) wrong += numbers[i] != next++;
  }
  writer.join();
  EXPECT_EQ(wrong, 0u);
}

TEST(SharedMemory, IsRefusedUnlessItIsSealedAndOfTheRightSize) {
  const auto why = [](const UniqueFd& fd) { return SharedMemory::open(fd).status().message(); };
  EXPECT_FALSE(SharedMemory::open(UniqueFd{}).ok());
  EXPECT_FALSE(SharedMemory::open(UniqueFd{::open("/dev/null", O_RDWR | O_CLOEXEC)}).ok());

  UniqueFd good;
  ASSERT_TRUE(SharedMemory::create(&good).ok());
  const auto size = ::lseek(good.get(), 0, SEEK_END);
  EXPECT_TRUE(SharedMemory::open(good).ok());
  EXPECT_NE(::ftruncate(good.get(), 0), 0) << "the pages cannot be taken away";
  EXPECT_NE(::ftruncate(good.get(), 2 * size), 0);

  const UniqueFd bad{::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::ftruncate(bad.get(), size), 0);
  EXPECT_THAT(why(bad), HasSubstr("not sealed"));
  ASSERT_EQ(::ftruncate(bad.get(), size / 2), 0);
  ASSERT_EQ(::fcntl(bad.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_THAT(why(bad), HasSubstr("another size"));
}

}  // namespace
}  // namespace burn::net
