// gRPC's health protocol (grpc.health.v1), as far as a worker has something to say: that it takes clients, or no more.
//
// gRPC brings a service for it, but with threads and a queue of its own, which get their turn of all connections.
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

// Of the service that a HealthCheckRequest names: the worker's, or none, which is the server as a whole.
ServingStatus health_of(const grpc::ByteBuffer& request, bool takes_clients);

grpc::ByteBuffer encode_health(ServingStatus status);

}  // namespace burn::net
