// What either end of TLS reads before it knows its peer: the bytes of a handshake, a certificate in PEM, and the file
// of tenants. Whatever comes, a stream ends with a reason or waits for more, and keeps no more than its bound.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/unique_fd.h"
#include "daemon/tenant_rules.h"
#include "net/tls/certificate.h"
#include "net/tls/pem.h"
#include "net/tls/stream.h"
#include "tests/net/tls/certificates.h"

namespace {

using burn::UniqueFd;
using burn::net::tls::ServerTls;
using burn::net::tls::Stream;

struct Ends {
  UniqueFd ours, theirs;
};

Ends make_ends() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) std::abort();
  return {UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

void shake(Stream& stream, int peer, std::string_view bytes, std::size_t piece) {
  bool is_over = false;
  while (!bytes.empty() && !is_over) {
    const auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    if (::send(peer, part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    const auto shaken = stream.do_handshake();
    if (shaken.ok() && *shaken) std::abort();  // without a key of the other end
    is_over = !shaken.ok();
    if (is_over != !stream.failure().ok()) std::abort();
    std::array<char, 4096> said;
    while (::recv(peer, said.data(), said.size(), MSG_DONTWAIT) > 0) {
    }
  }
  std::array<std::byte, 64> content;
  iovec part{content.data(), content.size()};
  if (is_over) (void)stream.read({&part, 1});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& pki = *new burn::test::TestPki;
  static const auto& server = *new auto{*ServerTls::open(pki.server)};
  static const auto& client = *new auto{*burn::net::tls::ClientIdentity::read(pki.client())};
  if (size < 2) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data + 2), size - 2};
  const std::size_t piece = 1 + std::size_t{data[1]} * 16;
  switch (data[0] / 2 % 4) {
    case 0: {
      const auto ends = make_ends();
      const auto stream = Stream::accept(server, ends.ours.get());
      shake(*stream, ends.theirs.get(), bytes, piece);
      break;
    }
    case 1: {
      const auto ends = make_ends();
      const auto stream = Stream::connect(client, "localhost", ends.ours.get());
      shake(*stream, ends.theirs.get(), bytes, piece);
      break;
    }
    case 2:
      (void)burn::net::tls::names_of_pem(bytes);
      (void)burn::net::tls::parse_certificates(bytes, "file");
      (void)burn::net::tls::parse_key(bytes, "file");
      break;
    default:
      (void)burn::daemon::parse_tenants(bytes, "/file");
      break;
  }
  return 0;
}
