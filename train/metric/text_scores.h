// Scores of language models: perplexity, and the similarity of generated sequences of tokens to references.
//
// All are computed over the whole epoch, from counts that are added up over the batches, except ROUGE-L, which is a
// mean over the sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "train/metric/metric.h"
#include "train/metric/sequence_scores.h"

namespace burn::metric {

// exp of the mean of -log p(token) over the tokens: output [batch, classes] or [batch, time, classes] of logits,
// targets without the last dim. Counted on the device.
class Perplexity : public CountedMetric {
 public:
  // Ignores targets of that class.
  Perplexity with_pad_token(std::int64_t token) const;

  std::string name() const override { return "Perplexity"; }
  std::string label() const override { return "ppl"; }
  bool higher_is_better() const override { return false; }
  std::vector<Need> needs() const override;
  Measured record(const StepOutput& output) const override;  // f32 [2]: sum of log p, tokens
  double value() const override;
  void load_state(std::span<const double> state) override;
  ValueFormat value_format() const override { return {.decimals = 2}; }

 private:
  std::optional<std::int64_t> pad_;
};

// A metric of pairs of sequences. A step returns the tokens as "predictions" or "output", integers [batch, time], or
// their scores as "output", floats [batch, time, classes], of which the highest is chosen; and "targets", integers
// [batch, time], of any length. They are read, two or three f32 for each, and compared on the host.
class SequenceMetric : public CountedMetric {
 public:
  std::vector<Need> needs() const override;
  Measured record(const StepOutput& output) const override;  // answered, expected
  void take(const MeasuredBatch& batch) override;
  void load_state(std::span<const double> state) override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }

 protected:
  explicit SequenceMetric(std::size_t counts) : size_(counts) {}
  // The counts of one pair.
  virtual std::vector<double> compare(Tokens answered, Tokens expected) const = 0;

  std::optional<std::int64_t> pad_;  // a sequence ends before the first such token

 private:
  std::size_t size_;
};

template <typename Self>
class SequenceMetricOf : public SequenceMetric {
 public:
  // Sequences end before the first such token.
  Self with_pad_token(std::int64_t token) const {
    auto result = static_cast<const Self&>(*this);
    result.pad_ = token;
    return result;
  }

 protected:
  using SequenceMetric::SequenceMetric;
};

// Edits per token of the targets, in percent.
class CharErrorRate : public SequenceMetricOf<CharErrorRate> {
 public:
  CharErrorRate() : SequenceMetricOf(2) {}
  std::string name() const override { return "CER"; }
  std::string label() const override { return "cer"; }
  bool higher_is_better() const override { return false; }
  double value() const override { return counts().empty() ? ratio(0, 0) : 100 * ratio(counts()[0], counts()[1]); }

 protected:
  std::vector<double> compare(Tokens answered, Tokens expected) const override {
    return {static_cast<double>(edit_distance(answered, expected)), static_cast<double>(expected.size())};
  }
};

// The same if tokens are words.
class WordErrorRate : public SequenceMetricOf<WordErrorRate> {
 public:
  WordErrorRate() : SequenceMetricOf(2) {}
  std::string name() const override { return "WER"; }
  std::string label() const override { return "wer"; }
  bool higher_is_better() const override { return false; }
  double value() const override { return counts().empty() ? ratio(0, 0) : 100 * ratio(counts()[0], counts()[1]); }

 protected:
  std::vector<double> compare(Tokens answered, Tokens expected) const override {
    return {static_cast<double>(edit_distance(answered, expected)), static_cast<double>(expected.size())};
  }
};

// Replacements for an n-gram precision of 0 (Chen and Cherry, WMT 2014).
struct NoSmoothing {};  // the score is 0
struct AddEpsilon {     // their method 1
  double epsilon = 0.1;
};
struct Exponential {};  // their method 3: 1/2, 1/4, ... of a match
using BleuSmoothing = std::variant<NoSmoothing, AddEpsilon, Exponential>;

// BLEU of the corpus, in percent (Papineni et al., ACL 2002): the geometric mean of the shares of matching n-grams, n =
// 1 to max_n, times exp(1 - expected / answered) if the answers are shorter. 0 without a matching token.
class BleuScore : public SequenceMetricOf<BleuScore> {
 public:
  explicit BleuScore(std::int64_t max_n = 4, BleuSmoothing smoothing = NoSmoothing{});

  std::string name() const override { return "BLEU-" + std::to_string(max_n_); }
  std::string label() const override { return "bleu"; }
  bool higher_is_better() const override { return true; }
  double value() const override;

 protected:
  std::vector<double> compare(Tokens answered, Tokens expected) const override;

 private:
  std::int64_t max_n_;
  BleuSmoothing smoothing_;
};

// ROUGE-L, in percent: the mean over the sequences of the harmonic mean of lcs / answered and lcs / expected, with the
// length of the longest common subsequence (Lin, ACL workshop 2004, with beta = 1). Two empty sequences have 100 %.
class RougeLScore : public SequenceMetricOf<RougeLScore> {
 public:
  RougeLScore() : SequenceMetricOf(2) {}
  std::string name() const override { return "ROUGE-L"; }
  std::string label() const override { return "rouge"; }
  bool higher_is_better() const override { return true; }
  double value() const override { return counts().empty() ? ratio(0, 0) : 100 * ratio(counts()[0], counts()[1]); }

 protected:
  std::vector<double> compare(Tokens answered, Tokens expected) const override;
};

}  // namespace burn::metric
