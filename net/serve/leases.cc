#include "net/serve/leases.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/random.h>

namespace burn::net {

Status fill_randomly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const auto got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return unavailable(fmt::format("no random numbers: {}", std::generic_category().message(errno)));
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Result<ServedConversation::Terms> Leases::terms(std::uint32_t wanted_seconds) const {
  std::uint64_t name = 0;
  BURN_RETURN_IF_ERROR(fill_randomly(std::as_writable_bytes(std::span{&name, 1})));
  ServedConversation::Terms terms{.name = fmt::format("s-{:016x}", name), .secret = {}};
  terms.lease = std::min(limit_.load(), std::chrono::seconds{wanted_seconds});
  if (terms.lease.count() == 0) return terms;
  terms.secret.resize(proto::kSecretBytes);
  BURN_RETURN_IF_ERROR(fill_randomly(std::as_writable_bytes(std::span{terms.secret})));
  return terms;
}

void Leases::add(const std::shared_ptr<ServedConversation>& conversation) {
  const std::lock_guard lock{mutex_};
  by_name_.insert_or_assign(conversation->terms().name, conversation);
}

Result<std::shared_ptr<ServedConversation>> Leases::find(const proto::Resume& resume) const {
  const std::lock_guard lock{mutex_};
  const auto found = by_name_.find(resume.session);
  if (found == by_name_.end() || !found->second->is_secret(resume.secret)) {
    return not_found(std::string{kNoSession});
  }
  return found->second;
}

void Leases::remember(const ServedConversation& conversation) {
  const auto counts = conversation.counts();
  resumes_ += counts.resumes;
  duplicates_ += counts.duplicates;
}

void Leases::remove(const ServedConversation& conversation) {
  const std::lock_guard lock{mutex_};
  if (by_name_.erase(conversation.terms().name) > 0) remember(conversation);
}

std::vector<std::shared_ptr<ServedConversation>> Leases::take_expired() {
  using Lost = std::pair<ServedConversation::Clock::time_point, std::string>;
  const auto now = ServedConversation::Clock::now();
  std::vector<Lost> lost;
  std::vector<std::string> over;
  std::vector<std::shared_ptr<ServedConversation>> taken;
  const std::lock_guard lock{mutex_};
  for (const auto& [name, conversation] : by_name_) {
    const auto lost_at = conversation->lost_at();
    if (!lost_at) continue;
    if (conversation->is_over() || now - *lost_at >= conversation->terms().lease) {
      over.push_back(name);
    } else {
      lost.emplace_back(*lost_at, name);
    }
  }
  if (lost.size() > kMaxLost) {
    std::ranges::sort(lost);
    for (std::size_t k = 0; k < lost.size() - kMaxLost; ++k) over.push_back(lost[k].second);
  }
  for (const auto& name : over) {
    auto conversation = by_name_.extract(name).mapped();
    if (!conversation->end_if_lost()) {  // its client has just resumed it
      by_name_.emplace(name, std::move(conversation));
      continue;
    }
    remember(*conversation);
    taken.push_back(std::move(conversation));
  }
  return taken;
}

std::vector<std::shared_ptr<ServedConversation>> Leases::take_lost_if(
    const std::function<bool(const std::string&)>& is_gone) {
  std::vector<std::shared_ptr<ServedConversation>> taken;
  const std::lock_guard lock{mutex_};
  for (auto it = by_name_.begin(); it != by_name_.end();) {
    auto& conversation = it->second;
    if (!is_gone(conversation->terms().tenant) || !conversation->end_if_lost()) {
      ++it;
      continue;
    }
    remember(*conversation);
    taken.push_back(std::move(conversation));
    it = by_name_.erase(it);
  }
  return taken;
}

std::vector<std::shared_ptr<ServedConversation>> Leases::take_all() {
  std::vector<std::shared_ptr<ServedConversation>> taken;
  const std::lock_guard lock{mutex_};
  for (auto& [name, conversation] : std::exchange(by_name_, {})) {
    remember(*conversation);
    taken.push_back(conversation);
  }
  return taken;
}

std::vector<std::shared_ptr<const ServedConversation>> Leases::all() const {
  std::vector<std::shared_ptr<const ServedConversation>> all;
  const std::lock_guard lock{mutex_};
  for (const auto& [name, conversation] : by_name_) all.push_back(conversation);
  return all;
}

bool Leases::have_lost_with_notices() const {
  const std::lock_guard lock{mutex_};
  return std::ranges::any_of(by_name_, [](const auto& entry) {
    const auto& conversation = *entry.second;
    return conversation.takes_notices() && conversation.lost_at() && !conversation.is_over();
  });
}

Leases::Counts Leases::counts() const {
  const std::lock_guard lock{mutex_};
  Counts all{resumes_, duplicates_};
  for (const auto& [name, conversation] : by_name_) {
    const auto counts = conversation->counts();
    all.resumes += counts.resumes;
    all.duplicates += counts.duplicates;
    all.lost += conversation->lost_at() ? 1 : 0;
  }
  return all;
}

}  // namespace burn::net
