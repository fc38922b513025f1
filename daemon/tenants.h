// The tenants of a daemon: finds the tenant of a client, and enforces the limits of a tenant's sessions together.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/tenant_rules.h"
#include "net/listen/permits.h"
#include "net/serve/session_host.h"
#include "serving/tenant_account.h"

namespace burn::daemon {

// One tenant; exists from when it is first listed. Thread-safe.
class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  explicit Tenant(const std::string& name) : account_(std::make_shared<serving::TenantAccount>(name)) {}

  const std::string& name() const { return account_->name(); }
  // The current rules; null if it is no longer listed.
  std::shared_ptr<const TenantRules> rules() const;
  void set_rules(std::shared_ptr<const TenantRules> rules);
  // True if it may have sessions: it is listed and not disabled.
  bool is_admitted() const;
  const std::shared_ptr<serving::TenantAccount>& account() const { return account_; }

  // A permit for a session, which is counted until the permit's last copy is dropped. Errors: RESOURCE_EXHAUSTED with
  // the limit.
  Result<net::Permit> take_session();
  std::uint64_t sessions() const { return sessions_; }
  // The number of refused sessions and allocations of tensors (serving::TenantAccount::refused()).
  std::uint64_t refused() const { return refused_ + account_->refused(); }

 private:
  const std::shared_ptr<serving::TenantAccount> account_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TenantRules> rules_;  // Guarded by `mutex_`.
  std::atomic<std::uint64_t> sessions_ = 0, refused_ = 0;
};

// Thread-safe.
class Tenants {
 public:
  // `path`: see read_tenants(). There are no tenants before reload(), and never any if the path is empty.
  explicit Tenants(std::string path) : path_(std::move(path)) {}

  bool are_used() const { return !path_.empty(); }
  // The status that reload() would return; changes nothing.
  Status check() const { return path_.empty() ? Status{} : read_tenants(path_).status(); }
  // Reads the file again. Errors, after which nothing has changed: those of read_tenants().
  Status reload();

  struct Match {
    std::shared_ptr<Tenant> by_token, by_certificate;  // null: it belongs to no tenant
    std::string certificate;                           // the certificate's name that matched by_certificate
  };
  // Takes the same time for all tokens of the same length, whatever the file contains.
  Match find(std::string_view token, const proto::PeerSecurity& security) const;
  // Null if it is not known: it was not listed since the process started.
  std::shared_ptr<Tenant> by_name(const std::string& name) const;
  // All tenants that are listed or have sessions, sorted by name.
  std::vector<std::shared_ptr<Tenant>> all() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Tenant>> by_name_;  // Guarded by `mutex_`.
};

}  // namespace burn::daemon
