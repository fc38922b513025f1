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

// Thread-safe.
class Tokens {
 public:
  // `path`: a file with a token on each line. Spaces around a token, empty lines and lines that begin with # do not
  // count. No token is known before reload(). An empty path: no token is required.
  explicit Tokens(std::string path) : path_(std::move(path)) {}

  bool are_required() const { return !path_.empty(); }
  // Reads the file again. Errors, after which the tokens are what they were: NOT_FOUND; INVALID_ARGUMENT for a file
  // without a token, with a token of fewer than kMinBytes bytes, or that all users of the machine may read or write.
  Status reload();
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
