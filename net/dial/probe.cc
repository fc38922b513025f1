#include "net/dial/probe.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include <poll.h>
#include <sys/uio.h>

#include "net/tls/stream.h"

namespace burn::net {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds{2};

bool wait(int socket, short events, Deadline deadline) {
  pollfd waiting{.fd = socket, .events = events, .revents = 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0))) > 0;
}

// Ok: the handshake succeeded, and the server has not rejected the client's certificate. `shows`: the client has a
// certificate.
Status try_tls(tls::Stream& stream, int socket, bool shows, Deadline deadline) {
  for (;;) {
    BURN_TRY(const bool is_done, stream.do_handshake());
    if (is_done) break;
    const auto wanted = static_cast<short>(POLLIN | (stream.wants_to_write() ? POLLOUT : 0));
    if (!wait(socket, wanted, deadline)) return {};
  }
  // With TLS 1.3 the server checks the client's certificate after the handshake, and then sends HTTP/2 at once.
  std::array<char, 256> bytes;
  const iovec part{bytes.data(), bytes.size()};
  while (wait(socket, POLLIN, deadline)) {
    const auto got = stream.read({&part, 1});
    if (got.error == EAGAIN) continue;
    // gRPC servers close the connection without an alert.
    const bool has_left = got.bytes == 0 && (got.error == 0 || got.error == ECONNRESET);
    if (shows && (has_left || !stream.failure().ok()))
      return unavailable("the server went away when it had this client's certificate (BURN_TLS_CERT)");
    break;
  }
  return stream.failure();
}

// Whether a server answers a TLS handshake with TLS.
bool speaks_tls(const HostPort& where, Deadline deadline) {
  const auto identity = tls::client_identity({});
  const auto socket = dial_tcp(where, deadline);
  if (!identity.ok() || !socket.ok()) return false;
  const auto stream = tls::Stream::connect(*identity, where.host, socket->get(), "h2");
  (void)try_tls(*stream, socket->get(), false, deadline);  // the result does not matter: any TLS answer will do
  return stream->peer_speaks_tls();
}

}  // namespace

Status explain_grpc_failure(const std::string& address, const GrpcTls& tls, const Status& failure, Deadline deadline) {
  const auto says = [&](int error) { return failure.message().ends_with(errno_text(error)); };
  const auto until = std::min<Deadline>(deadline, Clock::now() + kPatience);
  if (failure.code() != StatusCode::unavailable || says(ECONNREFUSED) || says(ETIMEDOUT) || Clock::now() >= deadline)
    return {};
  BURN_TRY(const HostPort where, parse_host_port(address));
  if (!tls.identity) {
    if (!speaks_tls(where, until)) return {};
    return unavailable("the server speaks TLS there (write grpcs://)");
  }
  const auto socket = dial_tcp(where, until);
  if (!socket.ok()) return {};
  const auto stream = tls::Stream::connect(tls.identity, tls.host, socket->get(), "h2");
  return try_tls(*stream, socket->get(), !tls.identity->chain().empty(), until);
}

}  // namespace burn::net
