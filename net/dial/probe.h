// Why a connection of gRPC does not come about, where it has to do with TLS: gRPC does not tell the cases apart.
#pragma once

#include <string>

#include "base/status.h"
#include "net/dial/transports.h"

namespace burn::net {

// After connect_grpc() has failed with `failure`: connects once more, to see what the server speaks and shows. Blocks,
// until `deadline` at most, and not where the failure says enough (no server listens). Ok: nothing more is known.
// Errors: UNAVAILABLE with why, in the words that WebSocket has for it.
Status explain_grpc_failure(const std::string& address, const GrpcTls& tls, const Status& failure, Deadline deadline);

}  // namespace burn::net
