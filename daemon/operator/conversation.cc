#include "daemon/operator/conversation.h"

#include <exception>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <fmt/format.h>

namespace burn::daemon {

namespace http = boost::beast::http;

namespace {

std::string to_http(const HttpResponse& response, bool has_body, bool is_last) {
  auto text = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n",
      reason_phrase(response.status), response.content_type, response.body.size());
  if (!response.allow.empty()) text += fmt::format("Allow: {}\r\n", response.allow);
  text += is_last ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n";
  return has_body ? text + response.body : text;
}

HttpConversation::Reply last_reply(const HttpResponse& refused) { return {to_http(refused, true, true), true}; }

}  // namespace

// Reads one request.
class HttpConversation::Reader {
 public:
  Reader() {
    parser_.header_limit(kMaxRequestBytes);
    parser_.body_limit(0);
    parser_.eager(true);
  }

  // Parses `bytes` and returns how many were consumed; the caller must pass the rest again, with more bytes after it.
  std::size_t read(std::string_view bytes) { return parser_.put(boost::asio::buffer(bytes), error_); }

  bool is_done() const { return parser_.is_done(); }
  bool wants_more() const { return error_ == http::error::need_more; }
  bool has_failed() const { return error_ && !wants_more(); }
  bool is_last() const { return !parser_.keep_alive(); }

  // Requires: has_failed().
  HttpResponse refused() const {
    if (error_ == http::error::header_limit) return too_long();
    if (error_ == http::error::body_limit || error_ == http::error::unexpected_body) {
      return refusal(413, "requests have no body here");
    }
    return refusal(400, fmt::format("this is no HTTP request: {}", error_.message()));
  }
  static HttpResponse too_long() {
    return refusal(431, fmt::format("a request's line and headers may have {} bytes together", kMaxRequestBytes));
  }

  // Requires: is_done().
  HttpRequest request() const {
    const auto& message = parser_.get();
    return {.method = std::string{message.method_string()},
            .target = std::string{message.target()},
            .host = std::string{message[http::field::host]},
            .has_origin = message.find(http::field::origin) != message.end()};
  }

 private:
  http::request_parser<http::empty_body> parser_;
  boost::system::error_code error_;
};

HttpConversation::HttpConversation(OperatorSource& source, bool is_local)
    : source_(source), is_local_(is_local), reader_(std::make_unique<Reader>()) {}

HttpConversation::~HttpConversation() = default;

std::optional<HttpConversation::Reply> HttpConversation::reply() {
  if (is_over_ || unread_.empty()) return std::nullopt;
  const auto taken = reader_->read(unread_);
  unread_.erase(0, taken);
  is_inside_ |= taken > 0;
  if (reader_->has_failed()) return refuse(reader_->refused());
  if (reader_->is_done()) return answer();
  if (unread_.size() >= kMaxRequestBytes) return refuse(Reader::too_long());
  return std::nullopt;
}

HttpConversation::Reply HttpConversation::answer() {
  const auto request = reader_->request();
  is_over_ = reader_->is_last() || ++requests_ >= kMaxRequests;
  HttpResponse response;
  try {
    response = handle(request, is_local_, source_);
  } catch (const std::exception& error) {  // most likely out of memory
    response = refusal(500, error.what());
  }
  reader_ = std::make_unique<Reader>();
  is_inside_ = false;
  return {to_http(response, request.method != "HEAD", is_over_), is_over_};
}

HttpConversation::Reply HttpConversation::refuse(const HttpResponse& refused) {
  is_over_ = true;
  unread_.clear();
  return last_reply(refused);
}

HttpConversation::Reply HttpConversation::timed_out() {
  return last_reply(refusal(408, "the request did not come to its end in time"));
}

HttpConversation::Reply refused_connection_reply(std::string_view why) { return last_reply(refusal(503, why)); }

}  // namespace burn::daemon
