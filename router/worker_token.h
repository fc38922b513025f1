// The token with which a router authenticates to its workers.
#pragma once

#include <mutex>
#include <string>

namespace burn::router {

// The first token of a file. The file is read for each connection, so a replaced token is used for all later
// connections. Thread-safe.
class WorkerToken {
 public:
  // An empty path: the only token is the environment's (BURN_TOKEN). Throws the errors of daemon::read_token_file().
  explicit WorkerToken(std::string path);

  // Returns the current token. If the file cannot be read, returns the previous token and logs a warning once.
  std::string current();

 private:
  const std::string path_;
  std::mutex mutex_;
  std::string token_;
  bool has_warned_ = false;
};

}  // namespace burn::router
