// What the operator's port answers: a path and a method in, a status and a body out. Knows no socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/operator/source.h"

namespace burn::daemon {

struct HttpRequest {
  std::string method;       // as it was sent
  std::string target;       // "/metrics?x=1"
  std::string host;         // the Host header; empty: none
  bool has_origin = false;  // an Origin header: a page in a browser asks
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string allow = {};  // of a 405: the methods that the path has
};

// "200 OK"; of a number that is not used here that of 503.
std::string_view reason_phrase(int status);
// A refusal with one line that says why.
HttpResponse refusal(int status, std::string_view why);

// `is_local`: the peer is on this machine, by loopback or a unix socket. From there all is answered; from elsewhere
// what shows counts alone (/startupz, /readyz, /healthz, /metrics), as anything else is 403. So is a local request that
// a web page may have caused: one with an Origin, or with a Host that is a name other than localhost, which may be
// a page's own name that its owner lets resolve to this machine.
HttpResponse handle(const HttpRequest& request, bool is_local, OperatorSource& source);

}  // namespace burn::daemon
