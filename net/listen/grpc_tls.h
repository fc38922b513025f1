// The TLS of gRPC's listeners.
#pragma once

#include <memory>

#include "proto/channel.h"

namespace grpc {
class AuthContext;
class ServerCredentials;
}  // namespace grpc

namespace burn::net {

namespace tls {
class ServerTls;
}

// Credentials that present the identity of `tls` as it is at the time of each handshake; a new one is noticed within a
// second. A client's certificate is requested as `tls` says, never required. Null: no TLS. `tls` must outlive the
// server.
std::shared_ptr<grpc::ServerCredentials> grpc_server_credentials(const tls::ServerTls* tls);

// What TLS has proved about the client of a call.
proto::PeerSecurity peer_security_of(const grpc::AuthContext& call, bool has_tls);

}  // namespace burn::net
