// How the ends of a unix socket come to share memory or to do without, and what it costs a server when one of them
// lies.
#include "net/transport/shared_memory.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/dial/transports.h"
#include "net/transport/io_threads.h"
#include "net/transport/websocket.h"
#include "net/transport/ws_frame.h"
#include "net/transport/ws_handshake.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using net::SharedMemory;
using net::UniqueFd;
using proto::Lane;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGranted = "Burn-Shared-Memory: 1\r\n";

std::string request(bool asks) { return net::ws::upgrade_request("localhost", "dGhlIHNhbXBsZSBub25jZQ==", asks); }
std::string message(const std::string& text) {
  return net::ws::make_header(net::ws::Opcode::binary, text.size(), net::ws::Role::client) + text;
}

// Reads up to the end of an HTTP header; keeps a descriptor that comes with it.
std::string read_header(int fd, net::UniqueFd* passed = nullptr) {
  std::string text;
  while (text.find("\r\n\r\n") == std::string::npos) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr about{};
    about.msg_iov = &part;
    about.msg_iovlen = 1;
    about.msg_control = control;
    about.msg_controllen = sizeof control;
    if (::recvmsg(fd, &about, MSG_CMSG_CLOEXEC) <= 0) break;
    text += byte;
    const cmsghdr* const header = CMSG_FIRSTHDR(&about);
    if (header == nullptr) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    net::UniqueFd owner{descriptor};
    if (passed) *passed = std::move(owner);
  }
  return text;
}

class SharedMemoryOverUnix : public testing::Test {
 protected:
  void serve(const net::ListenOptions& options = {}) { listener_ = *listen(Transport::unix_socket, echo_, options); }
  std::string path() const { return listener_->url().substr(std::strlen("unix:")); }

  // A blocking socket that need not follow the protocol.
  net::UniqueFd dial() const {
    net::UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  // Whether client and server share memory, when what they send comes back.
  bool shares(const net::WebSocketOptions& options = {}) {
    net::IoThreads threads(1);
    const auto client = std::make_shared<Recorder>();
    auto socket = net::dial_unix(path(), std::chrono::steady_clock::now() + kPatience);
    EXPECT_TRUE(socket.ok());
    const auto channel = net::open_websocket(threads.next(), *std::move(socket), "localhost", options, client);
    EXPECT_TRUE(channel.ok()) << channel.status().to_string();
    (*channel)->send(frame("head", 5 << 20, 3), Lane::bulk);
    EXPECT_TRUE(client->wait_for_frames(1) && matches(client->frames()[0], "head", 5 << 20, 3));
    return (*channel)->is_shared_memory();
  }

  TestAcceptor echo_{true};
  std::unique_ptr<net::Listener> listener_;
};

TEST_F(SharedMemoryOverUnix, IsUsedIfBothWantIt) {
  serve();
  EXPECT_TRUE(shares());
  EXPECT_FALSE(shares({.shared_memory = false}));
  listener_.reset();
  serve({.shared_memory = false});
  EXPECT_FALSE(shares());
}

TEST_F(SharedMemoryOverUnix, IsSwitchedOffByTheEnvironment) {
  ::setenv("BURN_SHARED_MEMORY", "off", 1);
  serve();
  EXPECT_FALSE(shares());
  listener_.reset();
  ::unsetenv("BURN_SHARED_MEMORY");
}

TEST_F(SharedMemoryOverUnix, IsNotPressedOnAPlainClient) {
  serve();
  const RawSocket peer{dial()};
  EXPECT_THAT(peer.upgrade(), HasSubstr("101"));
  peer.write(message("hello"));
  EXPECT_THAT(peer.read_some(), HasSubstr("hello"));
}

TEST_F(SharedMemoryOverUnix, IsNotOfferedOverTcp) {
  const auto listener = *listen(Transport::websocket, echo_);
  const RawSocket peer = RawSocket::connect(address_of(listener->url()));
  peer.write(request(true));
  EXPECT_THAT(peer.read_some(), testing::AllOf(HasSubstr("101"), Not(HasSubstr(kGranted))));
}

TEST_F(SharedMemoryOverUnix, MayBeLeftByAClientThatAskedForIt) {
  serve();
  net::UniqueFd fd = dial();
  ASSERT_EQ(::send(fd.get(), request(true).data(), request(true).size(), 0),
            static_cast<ssize_t>(request(true).size()));
  net::UniqueFd memory;
  EXPECT_THAT(read_header(fd.get(), &memory), HasSubstr(kGranted));
  EXPECT_TRUE(net::SharedMemory::open(memory).ok());
  const RawSocket peer{std::move(fd)};
  peer.write("s" + message("hello"));
  EXPECT_THAT(peer.read_some(), HasSubstr("hello"));
}

TEST_F(SharedMemoryOverUnix, APeerThatNeitherTakesNorLeavesItIsDropped) {
  serve({.handshake_timeout_seconds = 1});
  for (const std::string choice : {"x", ""}) {
    const RawSocket peer{dial()};
    peer.write(request(true) + choice);
    bool closed = false;
    peer.read_until_closed(10s, &closed);
    EXPECT_TRUE(closed) << choice;
  }
  EXPECT_EQ(echo_.client_count(), 0u);
  EXPECT_TRUE(shares());
}

// A server that grants memory and sends `descriptor`, or nothing. What the client says next.
std::string choice_after(const net::UniqueFd& descriptor) {
  int pair[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const net::UniqueFd server{pair[0]};
  net::IoThreads threads(1);
  auto opened = std::async(std::launch::async, [&] {
    return net::open_websocket(threads.next(), net::UniqueFd{pair[1]}, "localhost", {}, std::make_shared<Recorder>());
  });
  std::string answer = net::ws::answer_upgrade(read_header(server.get()), [] { return true; }).text;
  iovec part{answer.data(), answer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr about{};
  about.msg_iov = &part;
  about.msg_iovlen = 1;
  if (descriptor) {
    about.msg_control = control;
    about.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&about);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = descriptor.get();
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  EXPECT_EQ(::sendmsg(server.get(), &about, 0), static_cast<ssize_t>(answer.size()));
  char choice = 0;
  EXPECT_EQ(::recv(server.get(), &choice, 1, 0), 1);
  const auto channel = opened.get();
  EXPECT_TRUE(channel.ok()) << channel.status().to_string();
  EXPECT_EQ((*channel)->is_shared_memory(), choice == 'm');
  return {choice};
}

TEST_F(SharedMemoryOverUnix, IsLeftWhenItGetsLostOnTheWayOrIsNotAsItShouldBe) {
  net::UniqueFd good;
  const auto mapping = net::SharedMemory::create(&good);
  EXPECT_EQ(choice_after(good), "m");
  EXPECT_EQ(choice_after(net::UniqueFd{}), "s");
  const net::UniqueFd unsealed{::memfd_create("test", MFD_CLOEXEC)};
  EXPECT_EQ(choice_after(unsealed), "s");
  EXPECT_EQ(choice_after(net::UniqueFd{::dup(0)}), "s");
}

// A client that has taken the memory and does as it likes.
class InMemory : public SharedMemoryOverUnix {
 protected:
  void enter() {
    if (!listener_) serve();
    const std::size_t before = echo_.client_count();
    socket_ = dial();
    ASSERT_GT(::send(socket_.get(), request(true).data(), request(true).size(), 0), 0);
    net::UniqueFd descriptor;
    read_header(socket_.get(), &descriptor);
    auto memory = net::SharedMemory::open(descriptor);
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    memory_.emplace(*std::move(memory));
    send("m");
    served_ = echo_.client(before);
    ASSERT_TRUE(served_);
  }
  void put(const std::string& bytes) {
    net::RingWriter writer(memory_->control(1), memory_->bytes(1));
    writer.put(std::as_bytes(std::span{bytes}));
    (void)writer.publish();
  }
  void send(const std::string& bytes) const { (void)!::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void expect_dropped(const std::string& why) {
    ASSERT_TRUE(served_->wait_until_closed());
    EXPECT_EQ(served_->why().code(), StatusCode::unavailable);
    EXPECT_THAT(served_->why().message(), HasSubstr(why));
    EXPECT_TRUE(shares()) << "the server serves others";
  }

  net::UniqueFd socket_;
  std::optional<net::SharedMemory> memory_;
  std::shared_ptr<Served> served_;
};

TEST_F(InMemory, MoreBytesThanThereCanBeEndTheConnection) {
  enter();
  memory_->control(1).written = std::uint64_t{1} << 50;
  send("\a");
  expect_dropped("broke the rules of the shared memory");
}

TEST_F(InMemory, ReadingWhatIsNotWrittenEndsTheConnection) {
  enter();
  memory_->control(0).read = 12345;
  served_->channel->send(frame("x", 3 << 20), Lane::bulk);
  expect_dropped("broke the rules of the shared memory");
}

TEST_F(InMemory, BytesOnTheSocketAreNoMoreThanBells) {
  enter();
  for (int i = 0; i < 100; ++i) send(message("not heard"));
  put(message("hello"));
  send("\a");
  ASSERT_TRUE(served_->wait_for_frames(1));
  EXPECT_EQ(text(served_->frames()[0]), "hello");
}

TEST_F(InMemory, AClientThatVanishesIsNoticedAfterWhatItSaid) {
  enter();
  put(message("last words") + message(std::string(100, 'x')).substr(0, 50));
  socket_ = {};
  expect_dropped("the peer went away");
  ASSERT_EQ(served_->frame_count(), 1u);
  EXPECT_EQ(text(served_->frames()[0]), "last words");
}

TEST_F(InMemory, NoiseInTheControlBlocksDoesNoHarm) {
  std::mt19937 random{5};
  constexpr std::size_t kWords = 2 * sizeof(net::RingControl) / sizeof(std::uint64_t);
  for (int round = 0; round < 20; ++round) {
    enter();
    auto* const words = reinterpret_cast<std::uint64_t*>(&memory_->control(0));
    for (int i = 0; i < 50; ++i) {
      std::atomic_ref{words[random() % kWords]} = std::uint64_t{random()} >> random() % 40;
      send("\a");
    }
    socket_ = {};
    ASSERT_TRUE(served_->wait_until_closed());
  }
  EXPECT_TRUE(shares());
}

}  // namespace
}  // namespace burn::test
