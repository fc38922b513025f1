// The baseline for transport.cc: the same bytes and round trips over plain sockets between two processes.
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

namespace burn::bench {
namespace {

constexpr std::size_t kBulk = std::size_t{256} << 20;
constexpr std::size_t kPiece = std::size_t{1} << 20;

void read_exactly(int fd, char* to, std::size_t size) {
  while (size > 0) {
    const auto n = ::read(fd, to, size);
    if (n <= 0) ::_exit(0);
    to += n;
    size -= static_cast<std::size_t>(n);
  }
}

void write_exactly(int fd, const char* from, std::size_t size) {
  while (size > 0) {
    const auto n = ::write(fd, from, size);
    if (n <= 0) throw std::runtime_error("the peer of a raw socket went away");
    from += n;
    size -= static_cast<std::size_t>(n);
  }
}

std::array<int, 2> connected_pair(int family) {
  std::array<int, 2> pair{};
  if (family == AF_UNIX) {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) throw std::runtime_error("socketpair failed");
    return pair;
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  pair[0] = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::connect(pair[0], reinterpret_cast<sockaddr*>(&address), length) != 0) {
    throw std::runtime_error("cannot connect on loopback");
  }
  pair[1] = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  const int on = 1;
  for (const int fd : pair) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return pair;
}

// A child process that serves one end until the other closes.
class Peer {
 public:
  Peer(int family, void (*serve)(int fd)) {
    const auto pair = connected_pair(family);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(pair[0]);
      serve(pair[1]);
      ::_exit(0);
    }
    ::close(pair[1]);
    fd_ = pair[0];
  }
  Peer(const Peer&) = delete;
  ~Peer() {
    ::close(fd_);
    ::waitpid(child_, nullptr, 0);
  }
  int fd() const { return fd_; }

 private:
  pid_t child_ = 0;
  int fd_ = -1;
};

// Run in a forked child of a process with threads, so they must not allocate.
void swallow(int fd) {  // takes kBulk, answers with a byte
  static std::array<char, kPiece> piece;
  for (;;) {
    for (std::size_t left = kBulk; left > 0; left -= kPiece) read_exactly(fd, piece.data(), kPiece);
    write_exactly(fd, "k", 1);
  }
}

void echo(int fd) {
  std::array<char, 64> message{};
  for (;;) {
    read_exactly(fd, message.data(), message.size());
    write_exactly(fd, message.data(), message.size());
  }
}

std::vector<double> bulk(const Context& c, int family) {
  const Peer peer(family, swallow);
  const std::vector<char> piece(kPiece, 1);
  return giga_per_second(repeat(c,
                                [&] {
                                  for (std::size_t left = kBulk; left > 0; left -= kPiece)
                                    write_exactly(peer.fd(), piece.data(), kPiece);
                                  char answer = 0;
                                  read_exactly(peer.fd(), &answer, 1);
                                }),
                         static_cast<double>(kBulk));
}

// The baseline for shared memory: copies the same number of bytes between two blocks that are in use already.
std::vector<double> copy(const Context& c) {
  const std::vector<char> from(kBulk, 1);
  std::vector<char> to(kBulk);
  return giga_per_second(repeat(c, [&] { std::memcpy(to.data(), from.data(), kBulk); }), static_cast<double>(kBulk));
}

std::vector<double> ping(const Context& c, int family) {
  const Peer peer(family, echo);
  std::array<char, 64> message{};
  return microseconds(repeat(c, [&] {
    write_exactly(peer.fd(), message.data(), message.size());
    read_exactly(peer.fd(), message.data(), message.size());
  }));
}

}  // namespace

void add_raw_sockets(std::vector<Benchmark>& list) {
  list.push_back({"raw_tcp", "GB/s", "higher", [](const Context& c) { return bulk(c, AF_INET); }});
  list.push_back({"raw_unix", "GB/s", "higher", [](const Context& c) { return bulk(c, AF_UNIX); }});
  list.push_back({"raw_memcpy", "GB/s", "higher", copy});
  list.push_back({"raw_tcp_latency", "us", "lower", [](const Context& c) { return ping(c, AF_INET); }});
  list.push_back({"raw_unix_latency", "us", "lower", [](const Context& c) { return ping(c, AF_UNIX); }});
}

}  // namespace burn::bench
