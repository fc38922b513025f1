// Generates text from a model, token by token. Tokens stay on the device: each is passed to the next step directly, and
// the host can read it at any later time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "examples/gpt2/model.h"

namespace gpt2 {

// Picks the next token, [1, 1], from the logits [1, vocabulary]: the most likely one at temperature 0; otherwise drawn
// with probabilities proportional to the tokens' probabilities to the power of 1 / temperature.
inline Tensor<2, Int> pick(const Tensor<2>& logits, double temperature) {
  if (temperature == 0) return logits.argmax(1);
  // The largest of logits with Gumbel noise is a draw from their softmax (Gumbel 1954).
  const auto uniform = Tensor<2>::random(logits.dims(), Distribution::uniform(0, 1), logits.device());
  const auto noise = -((-uniform.log()).log());
  return (logits.to_float() / temperature + noise).argmax(1);
}

// Continues a text. Requires: a model without a tape (valid()). Used by one thread at a time.
class Generator {
 public:
  // `prompt`: [1, length], at least one token and at most the context. Without a cache every step computes the whole
  // text again: slower, for comparison.
  Generator(Gpt2 net, Tensor<2, Int> prompt, double temperature = 0, bool has_cache = true)
      : net_(std::move(net)),
        text_{prompt},
        length_(prompt.dim(1)),
        fresh_(std::move(prompt)),
        temperature_(temperature),
        has_cache_(has_cache) {}

  // Returns the next token, [1, 1], which is recorded and sent but not waited for. When the text exceeds the context,
  // only its last context / 2 tokens are kept.
  Tensor<2, Int> next() {
    if (length_ > net_.context()) {
      const auto kept = std::max<std::int64_t>(net_.context() / 2, 1);
      fresh_ = Tensor<2, Int>::cat(text_, 1).narrow(1, length_ - kept, kept);
      text_ = {fresh_};
      length_ = kept;
      cache_.clear();
    }
    const auto x = has_cache_ ? net_.hidden(fresh_, &cache_) : net_.hidden(Tensor<2, Int>::cat(text_, 1));
    const auto last = x.dim(1) == 1 ? x : x.narrow(1, x.dim(1) - 1, 1);
    fresh_ = pick(net_.logits(last.squeeze_dim<2>(1)), temperature_);
    text_.push_back(fresh_);
    length_ += 1;
    fresh_.device().flush();
    return fresh_;
  }

 private:
  const Gpt2 net_;
  std::vector<Tensor<2, Int>> text_;  // the text that is kept, in pieces
  std::int64_t length_;               // total length of the pieces
  Tensor<2, Int> fresh_;              // tokens that are not in the cache yet
  Cache cache_;
  const double temperature_;
  const bool has_cache_;
};

}  // namespace gpt2
