#include "proto/session_registry.h"

#include <map>
#include <mutex>
#include <ranges>

#include <fmt/format.h>

#include "base/fork.h"
#include "base/settings.h"

namespace burn::proto {
namespace {

struct Registry {
  Registry() { lock_during_fork(mutex); }

  std::mutex mutex;
  std::map<std::string, SessionFactory> factories;
};

// Never destroyed: static objects register schemes and open sessions, and are destroyed in any order.
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

}  // namespace

void register_scheme(const std::string& scheme, SessionFactory factory) {
  auto& all = registry();
  const std::lock_guard lock{all.mutex};
  all.factories[scheme] = std::move(factory);
}

Result<std::unique_ptr<Session>> open_session(const std::string& url) {
  BURN_RETURN_IF_ERROR(check_settings());
  auto& all = registry();
  SessionFactory factory;
  std::string known;
  {
    const std::lock_guard lock{all.mutex};
    const auto found = all.factories.find(url.substr(0, url.find_first_of(":/")));
    if (found != all.factories.end()) factory = found->second;
    known = fmt::format("{}", fmt::join(all.factories | std::views::keys, ", "));
  }
  if (factory) return factory(url);
  return invalid_argument("no device \"" + url + "\": its scheme is not among " + (known.empty() ? "(none)" : known));
}

}  // namespace burn::proto
