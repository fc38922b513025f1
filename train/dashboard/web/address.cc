#include "train/dashboard/web/address.h"

#include <charconv>
#include <optional>

#include <arpa/inet.h>
#include <fmt/format.h>

namespace burn::train::dashboard {
namespace {

constexpr std::string_view kCookie = "burn_dashboard=";

std::optional<std::uint16_t> parse_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

bool is_ipv4(const std::string& host) {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The name or address of a Host header, without port and brackets.
std::string name_of(std::string_view host) {
  if (host.starts_with('[')) return std::string{host.substr(1, host.find(']') - 1)};
  return std::string{host.substr(0, host.find(':'))};
}

std::string_view cookie_value(std::string_view cookies) {
  while (!cookies.empty()) {
    const auto end = cookies.find(';');
    auto cookie = cookies.substr(0, end);
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(kCookie)) return cookie.substr(kCookie.size());
    cookies = end == std::string_view::npos ? std::string_view{} : cookies.substr(end + 1);
  }
  return {};
}

int digit_of(char hex) {
  if (hex >= '0' && hex <= '9') return hex - '0';
  if (hex >= 'a' && hex <= 'f') return hex - 'a' + 10;
  if (hex >= 'A' && hex <= 'F') return hex - 'A' + 10;
  return -1;
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  const auto refuse = [&] {
    return invalid_argument(
        fmt::format("dashboard: \"{}\" is no address; HOST:PORT is expected, as 127.0.0.1:6006 or [::1]:6006", text));
  };
  Address address;
  auto host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return refuse();
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return refuse();
    if (!port.empty()) port.remove_prefix(1);
    if (text.ends_with(':')) return refuse();
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return refuse();
  } else if (parse_port(text)) {
    host = {};
    port = text;
  }
  if (!port.empty()) {
    const auto number = parse_port(port);
    if (!number) return refuse();
    address.port = *number;
  }
  address.host = host.empty() || host == "localhost" ? "127.0.0.1" : std::string{host};
  if (!is_ipv4(address.host) && !is_ipv6(address.host)) return refuse();
  address.is_loopback = address.host == "::1" || (is_ipv4(address.host) && address.host.starts_with("127."));
  return address;
}

std::string to_string(const Address& address) {
  return is_ipv6(address.host) ? fmt::format("[{}]:{}", address.host, address.port)
                               : fmt::format("{}:{}", address.host, address.port);
}

int Gate::check(const RequestHead& head) const {
  constexpr int kForbidden = 403, kUnauthorized = 401;
  const auto host = name_of(head.host);
  const bool is_address = is_ipv4(host) || is_ipv6(host);
  const bool is_local_name = host == "localhost" || host == "::1" || (is_ipv4(host) && host.starts_with("127."));
  if (address.is_loopback ? !is_local_name : !(is_address || host == "localhost")) return kForbidden;
  if (!head.origin.empty() && head.origin != fmt::format("http://{}", head.host)) return kForbidden;
  if (token.empty()) return 0;
  if (is_equal_in_constant_time(cookie_value(head.cookie), token)) return 0;
  constexpr std::string_view kBearer = "Bearer ";
  if (head.authorization.starts_with(kBearer) &&
      is_equal_in_constant_time(head.authorization.substr(kBearer.size()), token))
    return 0;
  return has_token_in_target(head.target) ? 0 : kUnauthorized;
}

bool Gate::has_token_in_target(std::string_view target) const {
  return !token.empty() && is_equal_in_constant_time(parameter(target, "token"), token);
}

std::string parameter(std::string_view target, std::string_view name) {
  const auto query = target.find('?');
  if (query == std::string_view::npos) return {};
  auto rest = target.substr(query + 1);
  while (!rest.empty()) {
    const auto end = rest.find('&');
    const auto pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (pair.size() <= name.size() || !pair.starts_with(name) || pair[name.size()] != '=') continue;
    const auto coded = pair.substr(name.size() + 1);
    std::string value;
    for (std::size_t i = 0; i < coded.size(); ++i) {
      const bool is_code =
          coded[i] == '%' && i + 2 < coded.size() && digit_of(coded[i + 1]) >= 0 && digit_of(coded[i + 2]) >= 0;
      value += is_code           ? static_cast<char>(16 * digit_of(coded[i + 1]) + digit_of(coded[i + 2]))
               : coded[i] == '+' ? ' '
                                 : coded[i];
      if (is_code) i += 2;
    }
    return value;
  }
  return {};
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

}  // namespace burn::train::dashboard
