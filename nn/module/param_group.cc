#include "nn/module/param_group.h"

#include <algorithm>
#include <regex>
#include <unordered_set>

#include "base/error.h"

namespace burn {
namespace {

std::vector<ParamGroup::Predicate> predicates_of(const std::vector<std::string>& patterns) {
  std::vector<ParamGroup::Predicate> predicates;
  for (const auto& pattern : patterns) {
    try {
      predicates.emplace_back([compiled = std::regex{pattern}](std::string_view path) {
        return std::regex_search(path.begin(), path.end(), compiled);
      });
    } catch (const std::regex_error& error) {
      throw Error(StatusCode::invalid_argument, "ParamGroup: \"" + pattern + "\" is no pattern: " + error.what());
    }
  }
  return predicates;
}

}  // namespace

ParamGroup ParamGroup::all() {
  return ParamGroup{[](ParamId, std::string_view) { return true; }};
}

ParamGroup ParamGroup::from_path(std::string path) { return from_paths({std::move(path)}); }

ParamGroup ParamGroup::from_paths(std::vector<std::string> paths) {
  return from_predicate([paths = std::move(paths)](std::string_view path) {
    return std::ranges::any_of(paths, [&](const std::string& wanted) {
      return path.starts_with(wanted) && (path.size() == wanted.size() || path[wanted.size()] == '.');
    });
  });
}

ParamGroup ParamGroup::from_predicate(Predicate holds) {
  return ParamGroup{[holds = std::move(holds)](ParamId, std::string_view path) { return holds(path); }};
}

ParamGroup ParamGroup::from_any_predicates(std::vector<Predicate> predicates) {
  return from_predicate([predicates = std::move(predicates)](std::string_view path) {
    return std::ranges::any_of(predicates, [&](const Predicate& holds) { return holds(path); });
  });
}

ParamGroup ParamGroup::from_predicates(std::vector<Predicate> predicates) {
  return from_predicate([predicates = std::move(predicates)](std::string_view path) {
    return std::ranges::all_of(predicates, [&](const Predicate& holds) { return holds(path); });
  });
}

ParamGroup ParamGroup::from_regex(const std::string& pattern) { return from_any_regexes({pattern}); }

ParamGroup ParamGroup::from_any_regexes(const std::vector<std::string>& patterns) {
  return from_any_predicates(predicates_of(patterns));
}

ParamGroup ParamGroup::from_regexes(const std::vector<std::string>& patterns) {
  return from_predicates(predicates_of(patterns));
}

ParamGroup ParamGroup::from_ids(std::vector<ParamId> ids) {
  return ParamGroup{[ids = std::unordered_set<ParamId>(ids.begin(), ids.end())](ParamId id, std::string_view) {
    return ids.count(id) != 0;
  }};
}

const std::string* ParamGroup::first_match(ParamId id, const std::vector<std::string>& paths) const {
  const auto found = std::ranges::find_if(paths, [&](const std::string& path) { return matches(id, path); });
  return found == paths.end() ? nullptr : &*found;
}

ParamGroup ParamGroup::fuse(const ParamGroup& other) const {
  return ParamGroup{
      [a = matches_, b = other.matches_](ParamId id, std::string_view path) { return a(id, path) || b(id, path); }};
}

ParamGroup ParamGroup::exclude(const ParamGroup& other) const {
  return ParamGroup{
      [a = matches_, b = other.matches_](ParamId id, std::string_view path) { return a(id, path) && !b(id, path); }};
}

}  // namespace burn
