// gRPC's health protocol (grpc.health.v1). A worker reports whether it accepts clients.
//
// gRPC has an implementation of its own, but with threads and a queue, to which gRPC would assign a share of all
// connections.
#pragma once

#include <string_view>

namespace grpc {
class ByteBuffer;
}

namespace burn::net {

inline constexpr std::string_view kHealthCheck = "/grpc.health.v1.Health/Check";
inline constexpr std::string_view kHealthWatch = "/grpc.health.v1.Health/Watch";

enum class ServingStatus : char {
  serving = 1,
  not_serving = 2,
  service_unknown = 3
};  // HealthCheckResponse.ServingStatus

// The status of the service that a HealthCheckRequest names: the worker's, or the empty name for the whole server.
ServingStatus health_of(const grpc::ByteBuffer& request, bool takes_clients);

grpc::ByteBuffer encode_health(ServingStatus status);

}  // namespace burn::net
