// The tokens that clients authenticate with: those of a file that the operator keeps.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace burn::daemon {

// The tokens of a file, a token on each line. Spaces around a token, empty lines and lines that begin with # do not
// count. At least one. Errors: NOT_FOUND; INVALID_ARGUMENT for a file without a token, with a token of fewer than
// Tokens::kMinBytes bytes, or that all users of the machine may read or write.
Result<std::vector<std::string>> read_token_file(const std::string& path);

// Thread-safe.
class Tokens {
 public:
  // `path`: as read_token_file(). No token is known before reload(). An empty path: no token is required.
  explicit Tokens(std::string path) : path_(std::move(path)) {}

  bool are_required() const { return !path_.empty(); }
  // Reads the file again. Errors, after which the tokens are what they were: read_token_file()'s.
  Status reload();
  // What reload() would say.
  Status check() const { return path_.empty() ? Status{} : read_token_file(path_).status(); }
  // True for a token of the file, and for any when none is required. Takes the same time for any token of this length,
  // whatever the file has.
  bool is_known(std::string_view token) const;
  std::size_t count() const;

  static constexpr std::size_t kMinBytes = 16;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view token);

  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<Digest> known_;  // Guarded by `mutex_`.
};

}  // namespace burn::daemon
