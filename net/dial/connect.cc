#include "net/dial/connect.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/fork.h"
#include "base/one_line.h"
#include "base/parse_number.h"
#include "base/settings.h"
#include "net/dial/probe.h"
#include "net/dial/transports.h"
#include "net/tls/stream.h"
#include "net/transport/websocket.h"

namespace burn::net {
namespace {

struct SchemeName {
  std::string_view name;
  Endpoint::Scheme scheme;
  bool has_path;  // "unix:PATH", not "ws://HOST:PORT"
  bool has_tls;
};
constexpr std::array<SchemeName, 6> kSchemes = {{{"ws", Endpoint::Scheme::websocket, false, false},
                                                 {"grpc", Endpoint::Scheme::grpc, false, false},
                                                 {"wss", Endpoint::Scheme::websocket, false, true},
                                                 {"grpcs", Endpoint::Scheme::grpc, false, true},
                                                 {"unix", Endpoint::Scheme::unix_socket, true, false},
                                                 {"grpc+unix", Endpoint::Scheme::grpc_unix, true, false}}};

Status bad_url(const std::string& url, std::string_view why) {
  return invalid_argument("device URL \"" + url + "\": " + std::string{why});
}

constexpr int kMaxClientThreads = 4;  // so that one session's upload does not delay another's runs

constexpr std::size_t kMaxNameBytes = 255;

// Sets the device of `endpoint` from `text`. Returns false if it is neither a number nor a name.
bool set_device(Endpoint& endpoint, std::string_view text) {
  if (const auto number = parse_number<std::uint32_t>(text)) {
    endpoint.device = *number;
    return true;
  }
  const bool is_name =
      !text.empty() && text.size() <= kMaxNameBytes && ((text[0] | 0x20) >= 'a') && ((text[0] | 0x20) <= 'z');
  if (is_name) endpoint.device_name = text;
  return is_name;
}

// Finds the colon in front of the path in a URL that names a device before its path; npos if there is none.
std::size_t end_of_device(std::string_view url, std::size_t device) {
  const auto first = url.find(':', device);
  if (first == std::string_view::npos || parse_number<std::uint32_t>(url.substr(device, first - device))) return first;
  const auto last = url.rfind(":/");
  return last == std::string_view::npos || last < device ? first : last;
}

// The event loops for all channels of the process. They are never destroyed, as a channel may be destroyed on a loop's
// own thread.
IoThreads& client_threads() {
  static auto& threads = *new OnePerProcess<IoThreads>;
  return threads.get([] { return std::make_unique<IoThreads>(kMaxClientThreads); });
}

Result<std::shared_ptr<proto::Channel>> connect_websocket(UniqueFd socket, const std::string& host, MakeTls make_tls,
                                                          std::shared_ptr<proto::ChannelHandler> handler,
                                                          Deadline deadline) {
  WebSocketOptions options;
  const auto left = deadline - std::chrono::steady_clock::now();
  options.handshake_timeout =
      std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{1});
  options.make_tls = std::move(make_tls);
  return open_websocket(client_threads().next(), std::move(socket), host, options, std::move(handler));
}

// A client's TLS identity: null where the URL's scheme has no TLS.
using Identity = std::shared_ptr<const tls::ClientIdentity>;

Result<Identity> identity_for(const Endpoint& endpoint, tls::ClientFiles files) {
  if (!endpoint.has_tls) return Identity{};
  if (files.ca.empty()) files.ca = setting(Setting::tls_ca);
  if (files.certificate.empty() && files.key.empty()) {
    files.certificate = setting(Setting::tls_cert);
    files.key = setting(Setting::tls_key);
  }
  return tls::client_identity(files);
}

// The addresses to try, in order. gRPC would resolve names, too, but not quite as the rest of the machine does.
Result<std::vector<std::string>> addresses_of(const HostPort& where, AddressChoice& choice) {
  choice.dialled({});
  auto found = resolve(where);
  auto ordered = choice.order(found.ok() ? *found : std::vector<std::string>{});
  if (ordered.empty()) return found.status();
  const auto first = parse_host_port(ordered.front());  // a server may have advertised a host name
  if (const auto numeric = first.ok() ? resolve(*first) : first.status(); numeric.ok()) {
    ordered.erase(ordered.begin());
    ordered.insert(ordered.begin(), numeric->begin(), numeric->end());
  }
  return ordered;
}

// Calls `dial` with one address after the other until one connects. Each may use its share of the time that is left.
template <typename Dial>
auto dial_first(const std::vector<std::string>& addresses, AddressChoice& choice, Deadline deadline, const Dial& dial)
    -> decltype(dial(std::string{}, deadline)) {
  decltype(dial(std::string{}, deadline)) made = unavailable("no address");
  for (std::size_t k = 0; k < addresses.size(); ++k) {
    const auto now = std::chrono::steady_clock::now();
    const auto share = (deadline - now) / static_cast<std::int64_t>(addresses.size() - k);
    choice.dialled(addresses[k]);
    made = dial(addresses[k], k + 1 == addresses.size() ? deadline : now + share);
    if (made.ok()) break;
  }
  return made;
}

Result<UniqueFd> dial_websocket(const HostPort& where, AddressChoice& choice, Deadline deadline) {
  BURN_TRY(const auto addresses, addresses_of(where, choice));
  return dial_first(addresses, choice, deadline, [](const std::string& address, Deadline until) -> Result<UniqueFd> {
    BURN_TRY(const HostPort numeric, parse_host_port(address));
    return dial_tcp(numeric, until);
  });
}

Result<std::shared_ptr<proto::Channel>> dial_grpc(const HostPort& where, const Identity& identity,
                                                  const std::shared_ptr<proto::ChannelHandler>& handler,
                                                  AddressChoice& choice, Deadline deadline) {
  BURN_TRY(const auto addresses, addresses_of(where, choice));
  const GrpcTls tls{identity, where.host};
  return dial_first(addresses, choice, deadline, [&](const std::string& address, Deadline until) {
    auto channel = connect_grpc(address, tls, handler, until);
    if (channel.ok()) return channel;
    if (Status known = explain_grpc_failure(address, tls, channel.status(), until); !known.ok())
      channel = std::move(known);
    return channel;
  });
}

Result<std::shared_ptr<proto::Channel>> connect_endpoint(const Endpoint& endpoint, const Identity& identity,
                                                         std::shared_ptr<proto::ChannelHandler> handler,
                                                         AddressChoice& addresses, Deadline deadline) {
  switch (endpoint.scheme) {
    case Endpoint::Scheme::websocket: {
      BURN_TRY(const HostPort where, parse_host_port(endpoint.address));
      BURN_TRY(UniqueFd socket, dial_websocket(where, addresses, deadline));
      MakeTls make_tls;
      if (identity) {
        make_tls = [identity, host = where.host](int fd) { return tls::Stream::connect(identity, host, fd); };
      }
      return connect_websocket(std::move(socket), endpoint.address, std::move(make_tls), std::move(handler), deadline);
    }
    case Endpoint::Scheme::unix_socket: {
      BURN_TRY(UniqueFd socket, dial_unix(endpoint.address, deadline));
      return connect_websocket(std::move(socket), "localhost", {}, std::move(handler), deadline);
    }
    case Endpoint::Scheme::grpc: {
      BURN_TRY(const HostPort where, parse_host_port(endpoint.address));
      return dial_grpc(where, identity, handler, addresses, deadline);
    }
    case Endpoint::Scheme::grpc_unix:
      return connect_grpc("unix:" + endpoint.address, {}, std::move(handler), deadline);
  }
  return internal_error("unknown scheme");
}

bool is_loopback(const HostPort& where) {
  return where.host == "localhost" || where.host == "::1" || where.host.starts_with("127.");
}

}  // namespace

Result<Endpoint> parse_url(const std::string& text) {
  const std::string_view url{text};
  const auto name_end = std::min(url.find_first_of(":/"), url.size());
  const auto known = std::ranges::find(kSchemes, url.substr(0, name_end), &SchemeName::name);
  const bool names_device_first = name_end < url.size() && url[name_end] == '/';
  const auto colon = names_device_first ? end_of_device(url, name_end + 1) : name_end;
  const bool is_known = known != kSchemes.end() && colon < url.size() &&
                        (known->has_path || (!names_device_first && url.substr(colon + 1).starts_with("//")));
  if (!is_known) {
    return bad_url(text,
                   "a server is ws://HOST:PORT, grpc://HOST:PORT, with TLS wss://HOST:PORT, grpcs://HOST:PORT, or "
                   "unix:PATH, grpc+unix:PATH");
  }

  Endpoint endpoint{.scheme = known->scheme, .has_tls = known->has_tls, .address = {}};
  constexpr std::string_view kDevices = "a device of the server is /0, /1, ... or a name, which begins with a letter";
  if (known->has_path) {
    if (names_device_first && !set_device(endpoint, url.substr(name_end + 1, colon - name_end - 1)))
      return bad_url(text, kDevices);
    endpoint.address = url.substr(colon + 1);
    if (endpoint.address.empty()) return bad_url(text, "write " + std::string{known->name} + ":PATH");
    return endpoint;
  }
  const auto address = url.substr(colon + 3);
  const auto slash = address.find('/');
  if (slash != std::string_view::npos && !set_device(endpoint, address.substr(slash + 1)))
    return bad_url(text, kDevices);
  endpoint.address = address.substr(0, slash);
  const auto where = parse_host_port(endpoint.address);
  if (!where.ok()) return bad_url(text, where.status().message());
  if (where->port == 0) return bad_url(text, "port 0 cannot be connected to");
  return endpoint;
}

std::string find_address(const std::vector<std::string>& urls, const Endpoint& endpoint) {
  for (const auto& url : urls) {
    const auto other = parse_url(url);
    if (other.ok() && other->scheme == endpoint.scheme && other->has_tls == endpoint.has_tls) return other->address;
  }
  return {};
}

bool is_gone_for_good(const std::string& url, const Status& failure) {
  const auto endpoint = parse_url(url);
  if (!endpoint.ok() || failure.code() != StatusCode::unavailable) return false;
  const auto says = [&](int error) { return failure.message().ends_with(errno_text(error)); };
  const bool is_path =
      endpoint->scheme == Endpoint::Scheme::unix_socket || endpoint->scheme == Endpoint::Scheme::grpc_unix;
  if (is_path) return says(ECONNREFUSED) || says(ENOENT);
  const auto where = parse_host_port(endpoint->address);
  return where.ok() && is_loopback(*where) && says(ECONNREFUSED);
}

bool is_unencrypted_remote(const Endpoint& endpoint) {
  const bool is_tcp = endpoint.scheme == Endpoint::Scheme::websocket || endpoint.scheme == Endpoint::Scheme::grpc;
  if (!is_tcp || endpoint.has_tls) return false;
  const auto where = parse_host_port(endpoint.address);
  return where.ok() && !is_loopback(*where);
}

Result<std::shared_ptr<proto::Channel>> connect_channel(const std::string& url,
                                                        std::shared_ptr<proto::ChannelHandler> handler,
                                                        std::chrono::milliseconds timeout, const tls::ClientFiles& tls,
                                                        AddressChoice* addresses) {
  BURN_TRY(const Endpoint endpoint, parse_url(url));
  AddressChoice any;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto identity = identity_for(endpoint, tls);
  if (!identity.ok()) return identity.status().with_context("cannot connect to " + url);
  auto channel = connect_endpoint(endpoint, *identity, std::move(handler), addresses ? *addresses : any, deadline);
  if (!channel.ok())
    return Status{StatusCode::unavailable, "cannot connect to " + url + ": " + one_line(channel.status().message())};
  return channel;
}

}  // namespace burn::net
