// A device's session and where it leads. Constant from its construction on, so from any thread without a lock; the
// session looks after itself.
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
  // Errors (thrown): it stayed with the parent of this process.
  proto::Session& session() const {
    check_process();
    return *session_;
  }
  proto::Session& unchecked() const { return *session_; }
  // Ok while the session works, as far as is known; else why not.
  Status health() const;

  // A fork() has made this process, and the session stayed with its parent: locks may be held for ever, memory is given
  // up.
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
