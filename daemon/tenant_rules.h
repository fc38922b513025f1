// The rules that an operator sets for tenants: the tables [[tenant]] of a TOML file.
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

  std::string name;  // consists of a-z, 0-9 and -
  // Any of these proves that a client belongs to this tenant: SHA-256 digests of tokens, including those of the token
  // file; and names of certificates in the form of net::tls::names_of(), where "dns:*.lab" matches one label before
  // ".lab".
  std::vector<TokenDigest> tokens;
  std::vector<std::string> certificates;
  bool is_operator = false;  // may use operator functions at the operator's port
  bool is_disabled = false;  // its clients are refused, and its sessions end

  // A limit that is not set is the worker's own option.
  serving::TenantAccount::Limits limits;
  std::vector<std::string> devices;       // names of devices that it may use; empty: all
  std::optional<std::uint64_t> sessions;  // concurrent
  // Concurrent sessions of one address: higher for a router, which has many clients.
  std::optional<std::uint64_t> sessions_per_peer;
  std::optional<std::uint64_t> session_memory, programs;
  std::optional<std::chrono::milliseconds> run_timeout;
  std::optional<std::chrono::seconds> session_lease;
};

// Errors: INVALID_ARGUMENT with the line, the key and the allowed values; also for two tenants with the same name,
// token or certificate. Relative paths of token files are relative to the folder of `path`.
Result<std::vector<TenantRules>> parse_tenants(std::string_view text, const std::string& path);
// The same for a file, which must not be writable by other users. Errors: also NOT_FOUND.
Result<std::vector<TenantRules>> read_tenants(const std::string& path);

// True if a certificate's name matches a rule's pattern.
bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace burn::daemon
