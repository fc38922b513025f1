// A device's session and its URL. Immutable, so it needs no lock; the session is thread-safe itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fork.h"
#include "proto/session.h"

namespace burn::client {

class SessionHandle {
 public:
  SessionHandle(std::string url, std::unique_ptr<proto::Session> session);

  const std::string& url() const { return url_; }
  // Errors (thrown): the session belongs to the parent of this process.
  proto::Session& session() const {
    check_process();
    return *session_;
  }
  proto::Session& unchecked() const { return *session_; }
  // Ok while no failure of the session is known; otherwise the failure.
  Status health() const;

  // Whether a fork() made this process after the session was opened. Its locks may then be held for ever, so its memory
  // is leaked on purpose.
  bool is_of_parent() const { return forks_ != fork_count(); }
  void check_process() const {
    if (is_of_parent()) [[unlikely]]
      throw_if_error(health());
  }

 private:
  const std::string url_;
  const std::uint32_t forks_;  // fork_count() when it was opened
  const std::unique_ptr<proto::Session> session_;
};

}  // namespace burn::client
