// The tokens that clients authenticate with, from a file that the operator maintains.
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

// Reads the tokens of a file, one per line and at least one. Spaces around a token, empty lines and lines that begin
// with # are ignored. Errors: NOT_FOUND; INVALID_ARGUMENT for a file without a token, with a token of fewer than
// Tokens::kMinBytes bytes, or that all users of the machine may read or write.
Result<std::vector<std::string>> read_token_file(const std::string& path);

// Thread-safe.
class Tokens {
 public:
  // `path`: see read_token_file(); empty: no token is required. No token is known before reload().
  explicit Tokens(std::string path) : path_(std::move(path)) {}

  bool are_required() const { return !path_.empty(); }
  // Reads the file again. Errors, after which the tokens are unchanged: those of read_token_file().
  Status reload();
  // The status that reload() would return; changes nothing.
  Status check() const { return path_.empty() ? Status{} : read_token_file(path_).status(); }
  // True for a token of the file, and for any token if none is required. Takes the same time for all tokens of the same
  // length, whatever the file contains.
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
