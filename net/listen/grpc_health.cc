#include "net/listen/grpc_health.h"

#include <string>

#include <grpcpp/support/byte_buffer.h>

#include "net/transport/grpc_bytes.h"

namespace burn::net {
namespace {

// HealthCheckRequest has one field, `string service = 1`, so each name has exactly one encoding.
std::string encode_request(std::string_view service) {
  return std::string{"\x0a", 1} + static_cast<char>(service.size()) + std::string{service};
}

std::string_view worker_service() {
  const std::string_view method = kGrpcMethod;  // "/burn.v1.Worker/Connect"
  return method.substr(1, method.rfind('/') - 1);
}

}  // namespace

ServingStatus health_of(const grpc::ByteBuffer& request, bool takes_clients) {
  grpc::Slice bytes;
  if (request.Length() > 0 && !request.DumpToSingleSlice(&bytes).ok()) return ServingStatus::service_unknown;
  const std::string_view named{reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
  const bool is_known = named.empty() || named == encode_request("") || named == encode_request(worker_service());
  if (!is_known) return ServingStatus::service_unknown;
  return takes_clients ? ServingStatus::serving : ServingStatus::not_serving;
}

grpc::ByteBuffer encode_health(ServingStatus status) {
  const char field[] = {'\x08', static_cast<char>(status)};  // ServingStatus status = 1
  const grpc::Slice slice{field, sizeof field};
  return {&slice, 1};
}

}  // namespace burn::net
