// The requests and answers of one connection to the operator's port. Knows no socket: bytes in, bytes out.
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
  // Of a request's line and headers together. A request has no body.
  static constexpr std::size_t kMaxRequestBytes = std::size_t{8} * 1024;
  // Of one connection, which is closed after the last one: what one peer asks does not go on without end.
  static constexpr std::size_t kMaxRequests = 1000;

  // `is_local`: as handle() has it. `source` must outlive this.
  HttpConversation(OperatorSource& source, bool is_local);
  ~HttpConversation();
  HttpConversation(const HttpConversation&) = delete;
  HttpConversation& operator=(const HttpConversation&) = delete;

  struct Reply {
    std::string bytes;
    bool is_last = false;  // the connection is to be closed after it; what follows is not read
  };

  // Takes bytes that have come. They are kept until reply() has used them: call reply() until it has none before
  // reading on, so that a peer that sends without end has no more than this kept.
  void add(std::string_view bytes) { unread_ += bytes; }
  // Answers the next request; none while it is not all there. What breaks HTTP or a bound is answered by a refusal,
  // which is the last reply.
  std::optional<Reply> reply();
  // Whether a part of a request has come.
  bool has_begun() const { return !unread_.empty() || is_inside_; }
  // For a request that does not come to its end.
  static Reply timed_out();

 private:
  class Reader;

  Reply answer();
  Reply refuse(const HttpResponse& refused);

  OperatorSource& source_;
  const bool is_local_;
  std::string unread_;
  std::unique_ptr<Reader> reader_;
  bool is_inside_ = false;  // the reader has taken bytes of a request
  bool is_over_ = false;
  std::size_t requests_ = 0;
};

// The reply to a connection for which there is no place, with the reason.
HttpConversation::Reply no_place(std::string_view why);

}  // namespace burn::daemon
