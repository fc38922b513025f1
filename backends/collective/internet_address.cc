#include "backends/collective/internet_address.h"

#include <array>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

namespace burn::backends {

bool InternetAddress::is_loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr);
  const auto address = ntohl(reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr);
  return family() == AF_INET && address >> 24 == IN_LOOPBACKNET;
}

bool InternetAddress::is_any() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr);
  return reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr == htonl(INADDR_ANY);
}

Result<InternetAddress> parse_host(const std::string& host, const std::string& port) {
  const bool has_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  const auto digits = has_brackets ? host.substr(1, host.size() - 2) : host;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool has_zeros = digits.find('\0') != std::string::npos || port.find('\0') != std::string::npos;
  if (digits.empty() || digits.size() > 64 || port.empty() || port.size() > 5 || has_zeros ||
      port.find_first_not_of("0123456789") != std::string::npos || std::stoi(port) > 65'535 ||
      ::getaddrinfo(digits.c_str(), port.c_str(), &hints, &found) != 0) {
    return invalid_argument(
        fmt::format("'{}:{}' is no address in digits with a port", host.substr(0, 64), port.substr(0, 8)));
  }
  InternetAddress address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

Result<InternetAddress> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos)
    return invalid_argument(fmt::format("'{}' is no address with a port", text.substr(0, 64)));
  return parse_host(text.substr(0, colon), text.substr(colon + 1));
}

std::string to_string(const InternetAddress& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address.get(), address.size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return address.family() == AF_INET6 ? fmt::format("[{}]:{}", host.data(), port.data())
                                      : fmt::format("{}:{}", host.data(), port.data());
}

Result<std::vector<std::string>> resolve_host(const std::string& name) {
  const bool has_brackets = name.size() >= 2 && name.front() == '[' && name.back() == ']';
  const auto bare = has_brackets ? name.substr(1, name.size() - 2) : name;
  const auto wrong = [&](const char* why) {
    return invalid_argument(fmt::format("'{}' is no host: {}", name.substr(0, NI_MAXHOST), why));
  };
  if (bare.empty()) return wrong("it is empty");
  if (bare.size() >= NI_MAXHOST || bare.find('\0') != std::string::npos)
    return wrong("a name has at most 1024 bytes, none of them zero");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int failed = ::getaddrinfo(bare.c_str(), "0", &hints, &first);
  if (failed != 0) return wrong(::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found{first, &::freeaddrinfo};
  std::vector<std::string> reachable;
  std::vector<std::string> loopback;
  for (const addrinfo* it = first; it != nullptr; it = it->ai_next) {
    InternetAddress address;
    address.size = it->ai_addrlen;
    std::memcpy(&address.storage, it->ai_addr, it->ai_addrlen);
    std::array<char, NI_MAXHOST> digits{};
    if (::getnameinfo(it->ai_addr, it->ai_addrlen, digits.data(), digits.size(), nullptr, 0, NI_NUMERICHOST) == 0)
      (address.is_loopback() ? loopback : reachable).emplace_back(digits.data());
  }
  reachable.insert(reachable.end(), loopback.begin(), loopback.end());
  return reachable;
}

}  // namespace burn::backends
