// The words that let a client in: those of a file that the operator keeps.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace burn::server {

// Thread-safe.
class Tokens {
 public:
  // `path`: a file with a token on each line; spaces around it, empty lines and those that begin with # do not count.
  // Empty: everybody is let in. Nobody is before reload().
  explicit Tokens(std::string path) : path_(std::move(path)) {}

  bool are_asked_for() const { return !path_.empty(); }
  // Reads the file again. Errors, and the tokens stay what they were: NOT_FOUND; INVALID_ARGUMENT for a file without a
  // token, with one of less than kLeastBytes bytes, or that everybody may read or write.
  Status reload();
  // Takes the same time for any token of this length, whatever there is in the file.
  bool is_known(std::string_view token) const;
  std::size_t count() const;

  static constexpr std::size_t kLeastBytes = 16;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest(std::string_view token);

  const std::string path_;
  mutable std::mutex mutex_;
  std::vector<Digest> known_;
};

}  // namespace burn::server
