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

// Shows the identity of `tls` as it is at the time of each handshake; a new one is noticed within a second. A client's
// certificate is asked for as `tls` says, never demanded. Null: no TLS. `tls` outlives the server.
std::shared_ptr<grpc::ServerCredentials> grpc_server_credentials(const tls::ServerTls* tls);

// What the client of a call has proved.
proto::PeerSecurity peer_security_of(const grpc::AuthContext& call, bool has_tls);

}  // namespace burn::net
