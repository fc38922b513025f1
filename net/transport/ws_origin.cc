#include "net/transport/ws_origin.h"

#include <algorithm>
#include <cctype>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace burn::net::ws {
namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_number(const std::string& host) {
  in6_addr bytes{};
  if (::inet_pton(AF_INET, host.c_str(), &bytes) == 1) return true;
  if (!host.starts_with('[') || !host.ends_with(']')) return false;
  return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &bytes) == 1;
}

// Returns "host:port", with the scheme's default port if there is none; empty if `text` is not of that form.
std::string authority(std::string_view text, std::string_view scheme) {
  if (text.empty() || text.find_first_of("/@?# ") != std::string_view::npos) return {};
  const auto colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  if (has_port) return lower(text);
  return lower(text) + (scheme == "https" ? ":443" : ":80");
}

// Normalizes an origin: "http://host:80" for "HTTP://Host"; other texts in lower case.
std::string normal(std::string_view origin) {
  const auto at = origin.find("://");
  if (at == std::string_view::npos) return lower(origin);
  const std::string scheme = lower(origin.substr(0, at));
  const std::string rest = authority(origin.substr(at + 3), scheme);
  return rest.empty() ? lower(origin) : scheme + "://" + rest;
}

bool is_same_host(const std::string& origin, std::string_view host) {
  const auto at = origin.find("://");
  if (at == std::string::npos) return false;
  const std::string theirs = origin.substr(at + 3);
  if (theirs != authority(host, origin.substr(0, at))) return false;
  const std::string name = theirs.substr(0, theirs.rfind(':'));
  return name == "localhost" || is_number(name);
}

}  // namespace

bool may_connect(std::string_view origin, std::string_view host, std::span<const std::string> listed) {
  if (origin.empty()) return true;
  const std::string theirs = normal(origin);
  const auto is_theirs = [&](const std::string& one) { return one == "*" || normal(one) == theirs; };
  return std::ranges::any_of(listed, is_theirs) || is_same_host(theirs, host);
}

}  // namespace burn::net::ws
