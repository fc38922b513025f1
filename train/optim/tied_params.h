// Group, rate and state of parameters that are at several places of a module and so have several paths. Private to
// train/.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "client/fail.h"
#include "client/site_scope.h"
#include "store/record.h"
#include "train/lr/check_rate.h"
#include "train/lr/module_lr.h"

namespace burn::optim::detail {

// Returns of_path(path), which must be the same for all paths of a parameter; without paths, of_path(""). Errors
// (thrown), with both paths: two results differ. `what`: the groups' purpose, for the message.
template <typename OfPath>
auto same_for_all(const std::vector<std::string>& paths, const char* what, OfPath&& of_path) {
  if (paths.empty()) return of_path(std::string_view{});
  const auto first = of_path(std::string_view{paths.front()});
  for (std::size_t i = 1; i < paths.size(); ++i) {
    if (of_path(std::string_view{paths[i]}) == first) continue;
    client::fail("\"" + paths.front() + "\" and \"" + paths[i] + "\" are one parameter, but in different groups of " +
                     what + ": name both in a group, or none",
                 client::current_site());
  }
  return first;
}

// Errors (thrown): a rate that is negative, infinite or NaN, with the number of its group, if any.
inline void check_rates(const lr::ModuleLearningRate& rates) {
  lr::check_rate("step", rates.base().as_double(), client::current_site());
  for (std::size_t i = 1; i <= rates.group_count(); ++i) {
    lr::check_rate("step", rates.rate_of_group(i).as_double(), client::current_site(),
                   "the learning rate of group " + std::to_string(i));
  }
}

// The rate of a parameter in one step. Errors (thrown): its paths are in different groups.
inline Scalar rate_of(const lr::ModuleLearningRate& rates, ParamId id, const std::vector<std::string>& paths) {
  if (!rates.has_groups()) return rates.base();
  return rates.rate_of_group(
      same_for_all(paths, "learning rates", [&](std::string_view path) { return rates.group_of_param(id, path); }));
}

// The paths under which a record has the state of a parameter. `step`: the name of the step count. Errors (thrown):
// several states, which differ.
inline std::vector<std::string> find_state(const Record& record, const std::vector<std::string>& paths,
                                           std::string_view step) {
  std::vector<std::string> found;
  for (const auto& path : paths) {
    if (record.contains(path + "/" + std::string{step})) found.push_back(path);
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    const auto prefix = found.front() + "/";
    for (const auto& [name, data] : record) {
      if (!name.starts_with(prefix)) continue;
      const auto* other = record.find(found[i] + "/" + name.substr(prefix.size()));
      if (other != nullptr && other->type() == data.type() && std::ranges::equal(other->as_bytes(), data.as_bytes()))
        continue;
      throw Error(StatusCode::invalid_argument,
                  "load_record: \"" + found.front() + "\" and \"" + found[i] +
                      "\" are one parameter, but the record remembers different things of them");
    }
  }
  return found;
}

}  // namespace burn::optim::detail
