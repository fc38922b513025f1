// The tenants of a daemon: which one a client is of, and what its sessions may have together.
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

// One tenant, from when it is first listed. Thread-safe.
class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  explicit Tenant(const std::string& name) : account_(std::make_shared<serving::TenantAccount>(name)) {}

  const std::string& name() const { return account_->name(); }
  // The rules that hold now; null: it is not listed any more.
  std::shared_ptr<const TenantRules> rules() const;
  void set_rules(std::shared_ptr<const TenantRules> rules);
  // Whether it may have sessions.
  bool is_admitted() const;
  const std::shared_ptr<serving::TenantAccount>& account() const { return account_; }

  // A place for a session, until its last copy is dropped. Errors: RESOURCE_EXHAUSTED with the limit.
  Result<net::Permit> take_session();
  std::uint64_t sessions() const { return sessions_; }
  // Sessions that were refused, and bytes of tensors (serving::TenantAccount::refused()).
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
  // `path`: as read_tenants(). There are none before reload(); an empty path: none at all.
  explicit Tenants(std::string path) : path_(std::move(path)) {}

  bool are_used() const { return !path_.empty(); }
  // What reload() would say.
  Status check() const { return path_.empty() ? Status{} : read_tenants(path_).status(); }
  // Reads the file again. Errors, after which all is as it was: read_tenants()'s.
  Status reload();

  struct Found {
    std::shared_ptr<Tenant> by_token, by_certificate;  // null: by that it is none's
    std::string certificate;                           // the name that by_certificate is of
  };
  // Takes the same time for any token of this length, whatever the file has.
  Found find(std::string_view token, const proto::PeerSecurity& security) const;
  // Null: it is not known, or was last listed before the process began.
  std::shared_ptr<Tenant> by_name(const std::string& name) const;
  // All that are listed, or have sessions, by name.
  std::vector<std::shared_ptr<Tenant>> all() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Tenant>> by_name_;  // Guarded by `mutex_`.
};

}  // namespace burn::daemon
