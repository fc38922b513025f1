// The TLS of gRPC's channels.
#pragma once

#include <memory>

#include "net/dial/transports.h"

namespace grpc {
class ChannelCredentials;
}

namespace burn::net {

// Trusts and shows what tls.identity does, and takes a server's certificate only if it names tls.host in its
// subjectAltName: gRPC's own check would take its CN. Without an identity: no TLS.
std::shared_ptr<grpc::ChannelCredentials> grpc_channel_credentials(const GrpcTls& tls);

}  // namespace burn::net
