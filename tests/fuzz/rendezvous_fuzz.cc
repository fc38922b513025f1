// Any bytes, in any pieces, at the port where the members of a group meet: the members still meet, and a connection
// that does not send its half of the ticket is no member.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "backends/collective/direct_collective.h"
#include "backends/collective/rendezvous.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "tests/fuzz/input.h"

namespace burn {
namespace {

using backends::Rendezvous;

const std::string kTicket = "0123456789abcdef";

UniqueFd call(const std::string& address) {
  UniqueFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::uint16_t port = 0;
  const auto colon = address.rfind(':') + 1;
  std::from_chars(address.data() + colon, address.data() + address.size(), port);
  to.sin_port = htons(port);
  (void)::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  return socket;
}

void say(const UniqueFd& socket, const std::string& bytes) {
  (void)!::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// A member's greeting with some bytes wrong.
std::string greeting(fuzz::Input& in) {
  std::string bytes = "BURNGRP1" + kTicket.substr(0, 8) + std::string("\1\0\0\0\0\0\0\0", 8);
  bytes[8 + in.byte() % 8] = static_cast<char>(in.byte());  // never the whole half of the ticket
  bytes[8] = '!';
  if (in.byte() % 4 == 0) bytes[in.byte() % bytes.size()] = static_cast<char>(in.byte());
  bytes[8] = '!';
  bytes.resize(bytes.size() - in.byte() % 4);
  return bytes;
}

}  // namespace
}  // namespace burn

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace burn;
  if (size > 4096) return 0;
  fuzz::Input in{data, size, 12};
  std::vector<std::unique_ptr<Rendezvous>> rendezvous;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < 2; ++rank) {
    rendezvous.push_back(value_or_throw(Rendezvous::listen("127.0.0.1", kTicket, rank, 2)));
    addresses.push_back(rendezvous.back()->address());
  }
  std::vector<UniqueFd> strangers;
  while (!in.empty() && strangers.size() < 8) {
    strangers.push_back(call(addresses[in.byte() % 2]));
    for (int pieces = in.byte() % 3; pieces >= 0; --pieces)
      say(strangers.back(), in.byte() % 2 == 0 ? greeting(in) : in.text());
    if (in.byte() % 3 == 0) strangers.back() = UniqueFd{};
  }
  std::vector<Status> met(2);
  const auto meet = [&](std::size_t rank) {
    auto links = rendezvous[rank]->meet(addresses, std::chrono::seconds{20});
    met[rank] = links.status();
    if (!links.ok()) return;
    const auto member = backends::make_direct_collective(*std::move(links));
    const ir::TensorType type{ir::DType::u8, {1}};
    std::byte number{static_cast<unsigned char>(rank + 1)};
    const std::span all(&number, 1);
    met[rank] = member->perform({ir::AllReduce{}, type, all, all});
    if (number != std::byte{3}) std::abort();
  };
  std::thread other([&] { meet(1); });
  meet(0);
  other.join();
  if (!met[0].ok() || !met[1].ok()) std::abort();
  return 0;
}
