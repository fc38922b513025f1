#include "daemon/tenant_rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include "base/one_line.h"
#include "daemon/options.h"
#include "daemon/tokens.h"
#include "daemon/toml.h"

namespace burn::daemon {
namespace {

using serving::TenantClass;

// The location of an error: "line 7 of /etc/burn/tenants.toml: tenant vision: weight".
struct ErrorLocation {
  const std::string& path;
  std::string tenant;
  std::string_view key;
  std::uint32_t line = 0;

  Status error(std::string_view why) const {
    return invalid_argument(fmt::format("line {} of {}: {}{}{}: {}", line, path, tenant.empty() ? "" : "tenant ",
                                        tenant.empty() ? "" : tenant + ": ", key, why));
  }
};

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= TenantRules::kMaxNameBytes &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

// Parses a number in the form of the daemon's options: 7, "512M".
Result<std::uint64_t> number_of(const toml::node& value, OptionInfo::Kind kind, const ErrorLocation& location,
                                std::uint64_t min, std::uint64_t max) {
  std::string text;
  if (const auto* whole = value.as_integer()) text = fmt::format("{}", whole->get());
  if (const auto* string = value.as_string()) text = string->get();
  const auto number = parse_number_of(kind, text);
  if (!number) {
    return location.error(fmt::format(
        "a {} is wanted, not {}", kind == OptionInfo::Kind::bytes ? "number of bytes, as 1000 or \"512M\"" : "number",
        burn::quoted(text)));
  }
  if (*number < min || *number > max) return location.error(fmt::format("{} is not {} to {}", *number, min, max));
  return *number;
}

Result<bool> flag_of(const toml::node& value, const ErrorLocation& location) {
  if (const auto* is = value.as_boolean()) return is->get();
  return location.error("true or false is wanted");
}

Result<std::vector<std::string>> texts_of(const toml::node& value, const ErrorLocation& location) {
  std::vector<std::string> texts;
  const auto* array = value.as_array();
  if (!array) return location.error("an array of texts is wanted");
  for (const auto& element : *array) {
    const auto* text = element.as_string();
    if (!text || text->get().empty()) return location.error("an array of texts is wanted");
    texts.push_back(text->get());
  }
  return texts;
}

Result<TokenDigest> digest_of(std::string_view text, const ErrorLocation& location) {
  constexpr std::string_view kPrefix = "sha256:";
  TokenDigest digest{};
  const auto hex = text.substr(std::min(kPrefix.size(), text.size()));
  const auto value = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  const bool is_one = text.starts_with(kPrefix) && hex.size() == 2 * digest.size() &&
                      std::ranges::all_of(hex, [&](char c) { return value(c) >= 0; });
  // Text that is not a digest may be a token, so the error must not repeat it.
  if (!is_one) return location.error("write \"sha256:\" and 64 digits of 0-9a-f (printf %s TOKEN | sha256sum)");
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(16 * value(hex[2 * i]) + value(hex[2 * i + 1]));
  return digest;
}

// Stores the value of a key in the rules.
using KeyHandler = std::function<Status(const toml::node&, const ErrorLocation&, TenantRules&)>;

template <typename Field>
KeyHandler number(Field field, OptionInfo::Kind kind, std::uint64_t min, std::uint64_t max) {
  return [=](const toml::node& value, const ErrorLocation& location, TenantRules& rules) -> Status {
    BURN_TRY(const auto found, number_of(value, kind, location, min, max));
    field(rules, found);
    return {};
  };
}

Status take_tokens(const toml::node& value, const ErrorLocation& location, TenantRules& rules) {
  BURN_TRY(const auto texts, texts_of(value, location));
  for (const auto& text : texts) {
    BURN_TRY(const auto digest, digest_of(text, location));
    rules.tokens.push_back(digest);
  }
  return {};
}

Status take_token_file(const toml::node& value, const ErrorLocation& location, TenantRules& rules) {
  const auto* text = value.as_string();
  if (!text) return location.error("a path is wanted");
  const auto path = (std::filesystem::path{location.path}.parent_path() / text->get()).string();
  const auto tokens = read_token_file(path);
  if (!tokens.ok()) return location.error(tokens.status().message());
  for (const auto& token : *tokens) rules.tokens.push_back(digest_of_token(token));
  return {};
}

Status take_certificates(const toml::node& value, const ErrorLocation& location, TenantRules& rules) {
  constexpr std::string_view kKinds[] = {"uri:", "dns:", "ip:", "email:", "cn:", "sha256:"};
  BURN_TRY(rules.certificates, texts_of(value, location));
  for (const auto& text : rules.certificates) {
    const bool is_kind = std::ranges::any_of(kKinds, [&](auto kind) { return text.starts_with(kind); });
    if (!is_kind)
      return location.error(
          fmt::format("{} does not begin with uri:, dns:, ip:, email:, cn: or sha256:", burn::quoted(text)));
  }
  return {};
}

Status take_class(const toml::node& value, const ErrorLocation& location, TenantRules& rules) {
  const auto text = value.value_or(std::string{});
  if (text == "high") return rules.limits.priority = TenantClass::high, Status{};
  if (text == "normal") return rules.limits.priority = TenantClass::normal, Status{};
  if (text == "low") return rules.limits.priority = TenantClass::low, Status{};
  return location.error(fmt::format("high, normal or low is wanted, not {}", burn::quoted(text)));
}

const std::map<std::string_view, KeyHandler>& keys() {
  using Kind = OptionInfo::Kind;
  constexpr auto kMaxBytes = std::uint64_t{1} << 50;
  static const auto& all = *new std::map<std::string_view, KeyHandler>{
      {"name", [](const auto&, const auto&, auto&) { return Status{}; }},  // read by parse_one() before the others
      {"tokens", take_tokens},
      {"token-file", take_token_file},
      {"certificates", take_certificates},
      {"class", take_class},
      {"operator",
       [](const toml::node& value, const ErrorLocation& location, TenantRules& rules) -> Status {
         BURN_TRY(rules.is_operator, flag_of(value, location));
         return {};
       }},
      {"disabled",
       [](const toml::node& value, const ErrorLocation& location, TenantRules& rules) -> Status {
         BURN_TRY(rules.is_disabled, flag_of(value, location));
         return {};
       }},
      {"devices",
       [](const toml::node& value, const ErrorLocation& location, TenantRules& rules) -> Status {
         BURN_TRY(rules.devices, texts_of(value, location));
         return {};
       }},
      {"weight",
       number([](TenantRules& r, auto n) { r.limits.weight = static_cast<unsigned>(n); }, Kind::count, 1, 100)},
      {"memory", number([](TenantRules& r, auto n) { r.limits.memory = n; }, Kind::bytes, 0, kMaxBytes)},
      {"sessions", number([](TenantRules& r, auto n) { r.sessions = n; }, Kind::count, 0, 1'000'000)},
      {"sessions-per-peer", number([](TenantRules& r, auto n) { r.sessions_per_peer = n; }, Kind::count, 1, 1'000'000)},
      {"session-memory", number([](TenantRules& r, auto n) { r.session_memory = n; }, Kind::bytes, 0, kMaxBytes)},
      {"programs", number([](TenantRules& r, auto n) { r.programs = n; }, Kind::count, 0, 1'000'000'000)},
      {"run-timeout",
       number([](TenantRules& r, auto n) { r.run_timeout = std::chrono::seconds{n}; }, Kind::count, 0, 1'000'000)},
      {"session-lease",
       number([](TenantRules& r, auto n) { r.session_lease = std::chrono::seconds{n}; }, Kind::count, 0, 86'400)},
  };
  return all;
}

std::string known_keys() {
  std::string text;
  for (const auto& [key, take] : keys()) text += fmt::format("{}{}", text.empty() ? "" : ", ", key);
  return text;
}

Result<TenantRules> parse_one(const toml::table& table, const std::string& path) {
  TenantRules rules;
  ErrorLocation location{.path = path, .tenant = {}, .key = "name", .line = table.source().begin.line};
  const auto* name = table.get_as<std::string>("name");
  if (!name) return location.error("every tenant has one");
  if (!is_name(name->get()))
    return location.error(
        fmt::format("{} is not 1 to {} of a-z, 0-9 and -", burn::quoted(name->get()), TenantRules::kMaxNameBytes));
  rules.name = location.tenant = name->get();
  for (const auto& [key, value] : table) {
    location.key = key.str();
    location.line = key.source().begin.line;
    const auto found = keys().find(key.str());
    if (found == keys().end()) return location.error("a tenant has no such key; it has " + known_keys());
    BURN_RETURN_IF_ERROR(found->second(value, location, rules));
  }
  return rules;
}

// Errors: INVALID_ARGUMENT for two tenants with the same name, token or certificate.
Status check_distinct(const std::vector<TenantRules>& all, const std::string& path) {
  std::map<std::string_view, int> names;
  std::map<TokenDigest, std::string_view> tokens;
  std::map<std::string_view, std::string_view> certificates;
  const auto both = [&](std::string_view what, std::string_view a, std::string_view b) {
    return invalid_argument(fmt::format("{}: tenants {} and {} have the same {}", path, a, b, what));
  };
  for (const auto& rules : all) {
    if (names[rules.name]++ > 0) return invalid_argument(fmt::format("{}: there are two tenants {}", path, rules.name));
    for (const auto& token : rules.tokens) {
      const auto [at, is_new] = tokens.try_emplace(token, rules.name);
      if (!is_new && at->second != rules.name) return both("token", at->second, rules.name);
    }
    for (const auto& name : rules.certificates) {
      const auto [at, is_new] = certificates.try_emplace(name, rules.name);
      if (!is_new && at->second != rules.name)
        return both(fmt::format("certificate {}", burn::quoted(name)), at->second, rules.name);
    }
  }
  return {};
}

}  // namespace

TokenDigest digest_of_token(std::string_view token) {
  TokenDigest digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

Result<std::vector<TenantRules>> parse_tenants(std::string_view text, const std::string& path) {
  const auto parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    return invalid_argument(fmt::format("line {}, column {} of {}: {}", error.source().begin.line,
                                        error.source().begin.column, path, one_line(error.description())));
  }
  std::vector<TenantRules> all;
  for (const auto& [key, value] : parsed.table()) {
    const auto line = key.source().begin.line;
    const auto* tables = key.str() == "tenant" ? value.as_array() : nullptr;
    if (!tables)
      return invalid_argument(
          fmt::format("line {} of {}: only [[tenant]] may be there, not {}", line, path, burn::quoted(key.str())));
    for (const auto& element : *tables) {
      const auto* table = element.as_table();
      if (!table) return invalid_argument(fmt::format("line {} of {}: [[tenant]] is a table", line, path));
      BURN_TRY(auto rules, parse_one(*table, path));
      all.push_back(std::move(rules));
    }
  }
  if (all.empty()) return invalid_argument(fmt::format("there is no [[tenant]] in {}", path));
  if (all.size() > TenantRules::kMaxTenants)
    return invalid_argument(fmt::format("{} has {} tenants; {} may be", path, all.size(), TenantRules::kMaxTenants));
  BURN_RETURN_IF_ERROR(check_distinct(all, path));
  return all;
}

Result<std::vector<TenantRules>> read_tenants(const std::string& path) {
  struct stat info {};
  std::ifstream file{path, std::ios::binary};
  if (!file || ::stat(path.c_str(), &info) != 0)
    return not_found(fmt::format("the tenants' file {} cannot be read", path));
  if (!S_ISREG(info.st_mode)) return invalid_argument(fmt::format("the tenants' file {} is no regular file", path));
  if ((info.st_mode & S_IWOTH) != 0)
    return invalid_argument(fmt::format("other users of this machine may change the tenants' file {}", path));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (file.bad()) return not_found(fmt::format("the tenants' file {} cannot be read", path));
  return parse_tenants(text, path);
}

bool matches_name(std::string_view pattern, std::string_view name) {
  constexpr std::string_view kAnyLabel = "dns:*.";
  if (!pattern.starts_with(kAnyLabel)) return pattern == name;
  const auto rest = pattern.substr(kAnyLabel.size() - 1);  // ".lab"
  if (!name.starts_with("dns:") || !name.ends_with(rest)) return false;
  const auto label = name.substr(4, name.size() - 4 - rest.size());
  return !label.empty() && label.find('.') == std::string_view::npos && label != "*";
}

}  // namespace burn::daemon
