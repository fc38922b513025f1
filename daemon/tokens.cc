#include "daemon/tokens.h"

#include <cerrno>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

namespace burn::daemon {

Result<std::vector<std::string>> read_token_file(const std::string& path) {
  struct stat info {};
  std::ifstream file{path};
  if (!file || ::stat(path.c_str(), &info) != 0) return not_found(fmt::format("cannot read the token file {}", path));
  if ((info.st_mode & (S_IROTH | S_IWOTH)) != 0) {
    return invalid_argument(fmt::format("other users of this machine may read or change the token file {}", path));
  }
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<std::string> tokens;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const auto first = line.find_first_not_of(kSpace);
    if (first == std::string::npos || line[first] == '#') continue;
    const auto token = std::string_view{line}.substr(first, line.find_last_not_of(kSpace) - first + 1);
    if (token.size() < Tokens::kMinBytes) {
      return invalid_argument(
          fmt::format("line {} of the token file {}: {} bytes are guessed too easily, write {} or "
                      "more (openssl rand -hex 32)",
                      number, path, token.size(), Tokens::kMinBytes));
    }
    tokens.emplace_back(token);
  }
  if (file.bad()) return not_found(fmt::format("cannot read the token file {}", path));
  if (tokens.empty()) return invalid_argument(fmt::format("there is no token in {}", path));
  return tokens;
}

Status Tokens::reload() {
  if (path_.empty()) return {};
  BURN_TRY(const auto tokens, read_token_file(path_));
  std::vector<Digest> known;
  known.reserve(tokens.size());
  for (const auto& token : tokens) known.push_back(digest(token));
  const std::lock_guard lock{mutex_};
  known_ = std::move(known);
  return {};
}

// Compares digests, so that the time taken reveals neither the length of a token nor how many of its bytes are right,
// and always compares all of them, so that it does not reveal the matching line either.
bool Tokens::is_known(std::string_view token) const {
  if (path_.empty()) return true;
  const auto asked = digest(token);
  const std::lock_guard lock{mutex_};
  unsigned found = 0;
  for (const auto& one : known_) {
    found |= static_cast<unsigned>(::CRYPTO_memcmp(one.data(), asked.data(), one.size()) == 0);
  }
  return found != 0;
}

std::size_t Tokens::count() const {
  const std::lock_guard lock{mutex_};
  return known_.size();
}

Tokens::Digest Tokens::digest(std::string_view token) {
  Digest digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

}  // namespace burn::daemon
