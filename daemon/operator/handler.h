// The request handler of the operator's port: method and path in, status and body out. Independent of sockets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/operator/source.h"

namespace burn::daemon {

struct HttpRequest {
  std::string method;       // as received
  std::string target;       // "/metrics?x=1"
  std::string host;         // the Host header; empty: none
  bool has_origin = false;  // there is an Origin header: the request comes from a page in a browser
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow = {};  // for a 405: the methods that the path supports
};

// "200 OK"; for a status that is not used here, the phrase of 503.
std::string_view reason_phrase(int status);
// A response that refuses the request; the body is one line with the reason.
HttpResponse refusal(int status, std::string_view why);

// `is_local`: the peer is on this machine (loopback or a unix socket). Local peers may request everything; others only
// the paths that show nothing but counts (/startupz, /readyz, /healthz, /metrics): anything else gets 403. A local
// request that a web page may have caused gets 403, too: one with an Origin, or with a Host that is a name other than
// localhost, because the owner of a page can let its name resolve to this machine.
HttpResponse handle(const HttpRequest& request, bool is_local, OperatorSource& source);

}  // namespace burn::daemon
