// Sockets that a service manager has opened for burn-server.
#include <csignal>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/unique_fd.h"
#include "tests/server/operated_server.h"

namespace burn::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Socket {
  UniqueFd fd;  // a child inherits it
  std::uint16_t port = 0;
};

Socket open_socket(bool listens = true) {
  Socket socket{UniqueFd{::socket(AF_INET, SOCK_STREAM, 0)}};
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {::htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(socket.fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  if (listens) EXPECT_EQ(::listen(socket.fd.get(), 16), 0);
  EXPECT_EQ(::getsockname(socket.fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  socket.port = ::ntohs(address.sin_port);
  return socket;
}

// burn-server with these descriptors from 3 on, as a service manager starts it.
std::vector<std::string> started_with(const std::vector<int>& descriptors, const std::string& names,
                                      const std::string& flags) {
  std::string script;
  for (std::size_t k = 0; k < descriptors.size(); ++k) script += fmt::format("exec {}<&{}; ", 100 + k, descriptors[k]);
  for (std::size_t k = 0; k < descriptors.size(); ++k) script += fmt::format("exec {}<&{}; ", 3 + k, 100 + k);
  script += fmt::format("LISTEN_PID=$$ LISTEN_FDS={} LISTEN_FDNAMES={} exec {} {}", descriptors.size(), names,
                        BURN_SERVER, flags);
  return {"/bin/bash", "-c", script};
}

TEST(BurnServerInheritedSockets, AreListenedOnInPlaceOfAddresses) {
  const auto ws = open_socket(), metrics = open_socket();
  Process process{started_with({ws.fd.get(), metrics.fd.get()}, "ws:operator", "--grpc off --ws 127.0.0.1:1")};
  EXPECT_EQ(process.read_line(), fmt::format("operator http://127.0.0.1:{}", metrics.port));
  const auto url = fmt::format("ws://127.0.0.1:{}", ws.port);
  EXPECT_EQ(process.read_line(), "listening " + url);
  run(url, 3);
  EXPECT_EQ(value_or_throw(daemon::ask_operator(fmt::format("127.0.0.1:{}", metrics.port), "GET", "/readyz",
                                                std::chrono::seconds{10}))
                .status,
            200);
  process.send(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST(BurnServerInheritedSockets, SayWhatIsWrongWithThem) {
  const auto one = open_socket(), two = open_socket(), silent = open_socket(false);
  const auto errors = [](const std::vector<int>& descriptors, const std::string& names) {
    Process process{started_with(descriptors, names, "--grpc off")};
    auto text = process.read_errors();
    EXPECT_EQ(process.wait(), 1);
    return text;
  };
  EXPECT_THAT(
      errors({one.fd.get()}, "burn-server.socket"),
      HasSubstr("socket 1 of the service manager has the name \"burn-server.socket\": FileDescriptorName is ws, "));
  EXPECT_THAT(errors({one.fd.get(), two.fd.get()}, "ws:ws"), HasSubstr("two sockets with the name ws"));
  EXPECT_THAT(errors({silent.fd.get()}, "ws"), HasSubstr("fd:3: this descriptor is no stream socket that listens"));
  EXPECT_THAT(errors({one.fd.get()}, "unix"), HasSubstr("fd:3: this socket is no unix socket"));
}

}  // namespace
}  // namespace burn::server
