#include "client/record/session_handle.h"

#include <utility>

namespace burn::client {

SessionHandle::SessionHandle(std::string url, std::unique_ptr<proto::Session> session)
    : url_(std::move(url)), forks_((install_fork_handlers(), fork_count())), session_(std::move(session)) {}

Status SessionHandle::health() const {
  if (!is_of_parent()) return session_->health();
  return failed_precondition("device " + url_ +
                             " was opened before fork() made this process, and stayed with its parent, as did its "
                             "tensors; this process opens one of its own by the same URL");
}

}  // namespace burn::client
