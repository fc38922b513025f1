#include "router/worker_token.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "daemon/log.h"
#include "daemon/tokens.h"

namespace burn::router {

WorkerToken::WorkerToken(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) token_ = value_or_throw(daemon::read_token_file(path_)).front();
}

std::string WorkerToken::current() {
  if (path_.empty()) return {};
  const auto tokens = daemon::read_token_file(path_);
  const std::lock_guard lock{mutex_};
  if (tokens.ok()) token_ = tokens->front();
  if (!tokens.ok() && !has_warned_)
    daemon::log_warning(fmt::format("the token for workers stays what it was: {}", tokens.status().message()));
  has_warned_ = !tokens.ok();
  return token_;
}

}  // namespace burn::router
