#include "net/dial/address_choice.h"

#include <algorithm>

namespace burn::net {

std::vector<std::string> AddressChoice::order(std::vector<std::string> found) const {
  const std::lock_guard lock{mutex_};
  const auto rank = [&](const std::string& address) {
    const auto at = std::ranges::find(refused_, address);
    return at == refused_.end() ? 0 : 1 + (at - refused_.begin());
  };
  std::ranges::stable_sort(found, {}, rank);
  if (home_.empty()) return found;
  std::erase(found, home_);
  found.insert(found.begin(), home_);
  return found;
}

void AddressChoice::dialled(const std::string& address) {
  const std::lock_guard lock{mutex_};
  last_ = address;
}

void AddressChoice::refuse() {
  const std::lock_guard lock{mutex_};
  if (last_.empty()) return;
  std::erase(refused_, last_);
  refused_.push_back(last_);
}

void AddressChoice::settle(const std::string& advertised) {
  const std::lock_guard lock{mutex_};
  home_ = advertised.empty() ? last_ : advertised;
}

}  // namespace burn::net
