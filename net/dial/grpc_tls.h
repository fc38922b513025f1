// The TLS of gRPC's channels.
#pragma once

#include <memory>

#include "net/dial/transports.h"

namespace grpc {
class ChannelCredentials;
}

namespace burn::net {

// Credentials with the issuers and the certificate of tls.identity. A server's certificate is accepted only if its
// subjectAltName names tls.host; gRPC's own check would accept its CN. Without an identity: no TLS.
std::shared_ptr<grpc::ChannelCredentials> grpc_channel_credentials(const GrpcTls& tls);

}  // namespace burn::net
