#include "train/metric/sequence_scores.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace burn::metric {

std::int64_t edit_distance(Tokens a, Tokens b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::int64_t longest_common_subsequence(Tokens a, Tokens b) {
  if (a.size() < b.size()) std::swap(a, b);
  std::vector<std::int64_t> row(b.size() + 1, 0);
  for (const auto token : a) {
    std::int64_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto above = row[j + 1];
      row[j + 1] = token == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row[b.size()];
}

NgramMatches count_ngrams(Tokens candidate, Tokens reference, std::size_t n) {
  const auto less = [](Tokens a, Tokens b) { return std::ranges::lexicographical_compare(a, b); };
  std::map<Tokens, std::int64_t, decltype(less)> left(less);  // n-grams of the reference that are not matched yet
  for (std::size_t i = 0; i + n <= reference.size(); ++i) ++left[reference.subspan(i, n)];
  NgramMatches found;
  for (std::size_t i = 0; i + n <= candidate.size(); ++i) {
    ++found.candidate;
    const auto match = left.find(candidate.subspan(i, n));
    if (match == left.end() || match->second == 0) continue;
    --match->second;
    ++found.matches;
  }
  return found;
}

}  // namespace burn::metric
