// The requests and answers of one connection to the operator's port. Independent of sockets: bytes in, bytes out.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/operator/handler.h"

namespace burn::daemon {

// Used by one thread.
class HttpConversation {
 public:
  // Limit for the request line and headers together. A request has no body.
  static constexpr std::size_t kMaxRequestBytes = std::size_t{8} * 1024;
  // Requests per connection, which is closed after the last one, so that no peer can keep a connection busy forever.
  static constexpr std::size_t kMaxRequests = 1000;

  // `is_local`: see handle(). `source` must outlive this object.
  HttpConversation(OperatorSource& source, bool is_local);
  ~HttpConversation();
  HttpConversation(const HttpConversation&) = delete;
  HttpConversation& operator=(const HttpConversation&) = delete;

  struct Reply {
    std::string bytes;
    bool is_last = false;  // close the connection after it; later bytes are not read
  };

  // Adds received bytes, which are buffered until reply() consumes them. Call reply() until it returns std::nullopt
  // before reading more from the socket: this bounds the buffer if a peer sends without end.
  void add(std::string_view bytes) { unread_ += bytes; }
  // Answers the next request; std::nullopt while it is incomplete. Invalid HTTP and exceeded limits are answered with a
  // refusal, which is the last reply.
  std::optional<Reply> reply();
  // True if a part of a request has been received.
  bool has_begun() const { return !unread_.empty() || is_inside_; }
  // The reply to a request that was not completed in time.
  static Reply timed_out();

 private:
  class Reader;

  Reply answer();
  Reply refuse(const HttpResponse& refused);

  OperatorSource& source_;
  const bool is_local_;
  std::string unread_;
  std::unique_ptr<Reader> reader_;
  bool is_inside_ = false;  // the reader has consumed bytes of a request
  bool is_over_ = false;
  std::size_t requests_ = 0;
};

// The reply to a connection that is refused because there are too many, with the reason.
HttpConversation::Reply refused_connection_reply(std::string_view why);

}  // namespace burn::daemon
