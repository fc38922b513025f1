// Similarity of two sequences of tokens. Private to train/metric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::metric {

using Tokens = std::span<const std::int64_t>;

// The fewest insertions, deletions and substitutions that turn one into the other (Levenshtein, 1966). Takes |a| |b|
// steps, and memory proportional to the shorter one.
std::int64_t edit_distance(Tokens a, Tokens b);

// The length of the longest sequence that both contain in order, with gaps. Takes |a| |b| steps.
std::int64_t longest_common_subsequence(Tokens a, Tokens b);

// The number of n-grams of a candidate, and how many of them match n-grams of the reference; each n-gram of the
// reference matches at most once.
struct NgramMatches {
  std::int64_t matches = 0, candidate = 0;
};
NgramMatches count_ngrams(Tokens candidate, Tokens reference, std::size_t n);

}  // namespace burn::metric
