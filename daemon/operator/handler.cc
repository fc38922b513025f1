#include "daemon/operator/handler.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace burn::daemon {
namespace {

HttpResponse text(std::string_view line) { return {.body = fmt::format("{}\n", line)}; }

HttpResponse probe(const Status& status) { return status.ok() ? text("ok") : refusal(503, status.message()); }

HttpResponse startup(OperatorSource& source) { return probe(source.startup()); }
HttpResponse ready(OperatorSource& source) { return probe(source.ready()); }
HttpResponse healthy(OperatorSource& source) { return probe(source.healthy()); }

HttpResponse metrics_page(OperatorSource& source) {
  Samples samples;
  source.collect(samples);
  return {.content_type = std::string{kMetricsContentType}, .body = samples.to_text()};
}

HttpResponse status_page(OperatorSource& source) {
  return {.content_type = "application/json", .body = to_json(source.report())};
}

HttpResponse debug_page(OperatorSource& source) {
  return {.content_type = "text/html; charset=utf-8", .body = to_html(source.report(), source.title())};
}

HttpResponse drain(OperatorSource& source) {
  source.drain();
  return {.status = 202, .body = "draining\n"};
}

constexpr std::string_view kLevel = "level=", kSessions = "/sessions/", kClose = "/close";

HttpResponse log_level(OperatorSource& source, std::string_view query) {
  if (!query.starts_with(kLevel))
    return refusal(400, "/log-level takes ?level=trace, debug, info, warning, error or off");
  const auto status = source.set_log_level(query.substr(kLevel.size()));
  return status.ok() ? text("ok") : refusal(400, status.message());
}

HttpResponse close_session(OperatorSource& source, std::string_view name) {
  const auto status = source.close_session(name);
  return status.ok() ? text("ok") : refusal(404, status.message());
}

// Returns "s-0123456789abcdef" for "/sessions/s-0123456789abcdef/close"; empty for any other path.
std::string_view session_of(std::string_view path) {
  if (!path.starts_with(kSessions) || !path.ends_with(kClose)) return {};
  if (path.size() <= kSessions.size() + kClose.size()) return {};
  const auto name = path.substr(kSessions.size(), path.size() - kSessions.size() - kClose.size());
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return std::ranges::all_of(name, is_part) ? name : std::string_view{};
}

struct Route {
  std::string_view path, method;
  bool is_local_only;
  HttpResponse (*answer)(OperatorSource& source);
  HttpResponse (*answer_about)(OperatorSource& source,
                               std::string_view what) = nullptr;  // `what`: the query or the session
};

constexpr std::array kRoutes{
    Route{"/startupz", "GET", false, startup},
    Route{"/readyz", "GET", false, ready},
    Route{"/healthz", "GET", false, healthy},
    Route{"/metrics", "GET", false, metrics_page},
    Route{"/status", "GET", true, status_page},
    Route{"/debug", "GET", true, debug_page},
    Route{"/drain", "POST", true, drain},
    Route{"/log-level", "POST", true, nullptr, log_level},
    Route{"/sessions/NAME/close", "POST", true, nullptr, close_session},
};

std::string paths() {
  std::string all;
  for (const auto& route : kRoutes) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", route.method, route.path);
  return all;
}

// True for a numeric address or localhost, with or without a port, and for no host, which a program may leave out.
bool is_host_of_this_machine(std::string_view host) {
  if (host.starts_with('[')) return true;  // IPv6: names have no brackets
  const auto name = host.substr(0, host.rfind(':'));
  return name.empty() || name == "localhost" || name.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool may_be_of_a_page(const HttpRequest& request) {
  return request.has_origin || !is_host_of_this_machine(request.host);
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "200 OK";
    case 202:
      return "202 Accepted";
    case 400:
      return "400 Bad Request";
    case 403:
      return "403 Forbidden";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    case 408:
      return "408 Request Timeout";
    case 413:
      return "413 Content Too Large";
    case 431:
      return "431 Request Header Fields Too Large";
    case 500:
      return "500 Internal Server Error";
    default:
      return "503 Service Unavailable";
  }
}

HttpResponse refusal(int status, std::string_view why) { return {.status = status, .body = fmt::format("{}\n", why)}; }

HttpResponse handle(const HttpRequest& request, bool is_local, OperatorSource& source) {
  const std::string_view target{request.target};
  const auto path = target.substr(0, target.find('?'));
  const auto session = session_of(path);
  const auto* route = session.empty() ? std::ranges::find(kRoutes, path, &Route::path) : &kRoutes.back();
  const bool is_pattern = session.empty() && route == &kRoutes.back();  // the path contains the literal word "NAME"
  if (route == kRoutes.end() || is_pattern)
    return refusal(404, fmt::format("there is no such path here; there are {}", paths()));
  const bool is_head_of_get = request.method == "HEAD" && route->method == "GET";
  if (request.method != route->method && !is_head_of_get) {
    auto refused = refusal(405, fmt::format("{} takes {}", route->path, route->method));
    refused.allow = route->method == "GET" ? "GET, HEAD" : route->method;
    return refused;
  }
  if (route->is_local_only && !is_local) {
    return refusal(403, fmt::format("{} answers on loopback and unix sockets only", route->path));
  }
  if (route->is_local_only && may_be_of_a_page(request)) {
    return refusal(403,
                   fmt::format("{} does not answer web pages: no Origin, and a Host that is an address or localhost",
                               route->path));
  }
  if (!route->answer_about) return route->answer(source);
  return route->answer_about(source,
                             session.empty() ? target.substr(std::min(path.size() + 1, target.size())) : session);
}

}  // namespace burn::daemon
