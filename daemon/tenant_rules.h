// What an operator says of tenants: the tables [[tenant]] of a TOML file.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "serving/tenant_account.h"

namespace burn::daemon {

using TokenDigest = std::array<unsigned char, 32>;  // SHA-256
TokenDigest digest_of_token(std::string_view token);

struct TenantRules {
  static constexpr std::size_t kMaxTenants = 256;
  static constexpr std::size_t kMaxNameBytes = 63;

  std::string name;  // of a-z, 0-9 and -
  // Any of these proves that a client is of this tenant: the SHA-256 of tokens, those of the file among them; names of
  // certificates as net::tls::names_of() has them, where "dns:*.lab" stands for one label before ".lab".
  std::vector<TokenDigest> tokens;
  std::vector<std::string> certificates;
  bool is_operator = false;  // may use what is an operator's at the operator's port
  bool is_disabled = false;  // its clients are refused, and its sessions end

  // What is not said is the worker's own option.
  serving::TenantAccount::Limits limits;
  std::vector<std::string> devices;       // by name; empty: all
  std::optional<std::uint64_t> sessions;  // at once
  std::optional<std::uint64_t>
      sessions_per_peer;  // at once from one address: more for a router, which has many clients
  std::optional<std::uint64_t> session_memory, programs;
  std::optional<std::chrono::milliseconds> run_timeout;
  std::optional<std::chrono::seconds> session_lease;
};

// Errors: INVALID_ARGUMENT with the line, the key and what may be there; for tenants of one name, and tokens or
// certificates of two. Token files are read from where their path says, from the folder of `path` where it is relative.
Result<std::vector<TenantRules>> parse_tenants(std::string_view text, const std::string& path);
// The same of a file, which other users must not be able to change. Errors: also NOT_FOUND.
Result<std::vector<TenantRules>> read_tenants(const std::string& path);

// Whether a rule's pattern is about a certificate's name.
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace burn::daemon
