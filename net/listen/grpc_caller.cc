#include "net/listen/grpc_caller.h"

#include <string_view>
#include <utility>

namespace burn::net {
namespace {

// The peer's name in the form of the other transports, from gRPC's "ipv4:127.0.0.1:40312" or "ipv6:%5B::1%5D:40312".
std::string peer_name(std::string uri) {
  const auto replace = [&uri](std::string_view what, std::string_view with) {
    if (const auto at = uri.find(what); at != std::string::npos) uri.replace(at, what.size(), with);
  };
  for (const std::string_view scheme : {"ipv4:", "ipv6:"}) {
    if (uri.starts_with(scheme)) uri.erase(0, scheme.size());
  }
  replace("%5B", "[");
  replace("%5D", "]");
  return uri;
}

}  // namespace

Status GrpcCaller::arrive(const std::string& uri) {
  peer_ = peer_name(uri);
  if (calls_.parts().accepting().count_call(peer_)) return {};
  return resource_exhausted("too many calls on one connection");
}

Status GrpcCaller::connect(std::weak_ptr<Abortable> connection) {
  BURN_TRY(auto place, calls_.parts().connections->take(Peer::of(peer_)));
  lease_ = std::move(place.lease);
  full_ = std::move(place.full);
  calls_.parts().connections->put(lease_, std::move(connection));
  return {};
}

Status GrpcCaller::watch() {
  BURN_TRY(watch_, calls_.parts().watches->take(Peer::of(peer_)));
  return {};
}

void GrpcCaller::begin_unauthenticated(std::weak_ptr<UnauthenticatedCall> call,
                                       UnauthenticatedCalls::Clock::time_point until) {
  registration_ = calls_.unauthenticated().add(std::move(call), until);
  calls_.parts().accepting().unauthenticated_began(peer_);
}

void GrpcCaller::end_unauthenticated(bool is_authenticated) {
  if (!std::exchange(registration_, nullptr)) return;
  calls_.parts().accepting().unauthenticated_ended(peer_, is_authenticated);
}

void GrpcCaller::leave() {
  end_unauthenticated(false);
  lease_.reset();
  watch_.reset();
}

}  // namespace burn::net
