#include "daemon/session_counters.h"

namespace burn::daemon {

Refusal refusal_of(net::SessionEnd how, const Status& why) {
  const bool is_by_server = how == net::SessionEnd::rule || how == net::SessionEnd::drain;
  switch (why.code()) {
    case StatusCode::ok:
      return Refusal::left;
    case StatusCode::unauthenticated:
      return Refusal::token;
    case StatusCode::permission_denied:
      return Refusal::tenant;
    case StatusCode::resource_exhausted:
      return Refusal::limit;
    case StatusCode::failed_precondition:
      return Refusal::version;
    case StatusCode::deadline_exceeded:
      return Refusal::no_hello;
    case StatusCode::unavailable:
      return is_by_server ? Refusal::draining : Refusal::left;
    case StatusCode::not_found:
      return Refusal::session;
    default:
      return Refusal::protocol;
  }
}

}  // namespace burn::daemon
