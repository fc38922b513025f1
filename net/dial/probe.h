// Finds out why a gRPC connection fails when TLS is the cause, as gRPC does not distinguish the cases.
#pragma once

#include <string>

#include "base/status.h"
#include "net/dial/transports.h"

namespace burn::net {

// Called after connect_grpc() has failed with `failure`: connects once more, to see whether the server speaks TLS and
// with which certificate. Blocks, until `deadline` at most; does not connect if the failure says enough (no server
// listens). Ok: nothing more is known. Errors: UNAVAILABLE with the reason, in the same words as WebSocket.
Status explain_grpc_failure(const std::string& address, const GrpcTls& tls, const Status& failure, Deadline deadline);

}  // namespace burn::net
