#include "daemon/tenants.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <openssl/crypto.h>

namespace burn::daemon {

std::shared_ptr<const TenantRules> Tenant::rules() const {
  const std::lock_guard lock{mutex_};
  return rules_;
}

void Tenant::set_rules(std::shared_ptr<const TenantRules> rules) {
  if (rules) account_->set(rules->limits);
  const std::lock_guard lock{mutex_};
  rules_ = std::move(rules);
}

bool Tenant::is_admitted() const {
  const auto rules = this->rules();
  return rules && !rules->is_disabled;
}

Result<net::Permit> Tenant::take_session() {
  const auto rules = this->rules();
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const auto limit = rules ? rules->sessions.value_or(kNoLimit) : kNoLimit;
  auto sessions = sessions_.load();
  do {
    if (sessions >= limit) {
      ++refused_;
      return resource_exhausted(fmt::format("tenant {} may have {} sessions", name(), limit));
    }
  } while (!sessions_.compare_exchange_weak(sessions, sessions + 1));
  return net::Permit{this, [self = shared_from_this()](const void*) { --self->sessions_; }};
}

Status Tenants::reload() {
  if (path_.empty()) return {};
  BURN_TRY(auto all, read_tenants(path_));
  const std::lock_guard lock{mutex_};
  std::map<std::string, std::shared_ptr<Tenant>> next;
  for (auto& rules : all) {
    auto known = by_name_.extract(rules.name);
    auto tenant = known.empty() ? std::make_shared<Tenant>(rules.name) : std::move(known.mapped());
    tenant->set_rules(std::make_shared<const TenantRules>(std::move(rules)));
    next.emplace(tenant->name(), std::move(tenant));
  }
  for (auto& [name, tenant] : by_name_) {  // those that are no longer listed
    tenant->set_rules(nullptr);
    if (tenant->sessions() > 0) next.emplace(name, tenant);
  }
  by_name_ = std::move(next);
  return {};
}

Tenants::Match Tenants::find(std::string_view token, const proto::PeerSecurity& security) const {
  Match found;
  const auto digest = digest_of_token(token);
  const std::lock_guard lock{mutex_};
  for (const auto& [name, tenant] : by_name_) {
    const auto rules = tenant->rules();
    if (!rules) continue;
    unsigned is_known = 0;
    for (const auto& one : rules->tokens)
      is_known |= static_cast<unsigned>(::CRYPTO_memcmp(one.data(), digest.data(), one.size()) == 0);
    if (is_known != 0) found.by_token = tenant;
    for (const auto& pattern : rules->certificates) {
      const auto match =
          std::ranges::find_if(security.names, [&](const std::string& shown) { return matches_name(pattern, shown); });
      if (match == security.names.end()) continue;
      found.by_certificate = tenant;
      found.certificate = *match;
    }
  }
  return found;
}

std::shared_ptr<Tenant> Tenants::by_name(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Tenant>> Tenants::all() const {
  std::vector<std::shared_ptr<Tenant>> all;
  const std::lock_guard lock{mutex_};
  all.reserve(by_name_.size());
  for (const auto& [name, tenant] : by_name_) all.push_back(tenant);
  return all;
}

}  // namespace burn::daemon
