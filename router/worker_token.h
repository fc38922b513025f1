// The token that workers know a router by.
#pragma once

#include <mutex>
#include <string>

namespace burn::router {

// The first token of a file, which is read for each connection: a token that is replaced holds for connections from
// then on. Thread-safe.
class WorkerToken {
 public:
  // An empty path: there is no token but the environment's (BURN_TOKEN). Throws daemon::read_token_file()'s errors.
  explicit WorkerToken(std::string path);

  // Where the file is no good now, the token before; the log says so once.
  std::string current();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::string token_;
  bool is_told_ = false;
};

}  // namespace burn::router
