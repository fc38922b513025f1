// Text out of a model, token by token. Tokens stay on the device: each is the input of the next step as it is, and the
// host may look at it whenever it has come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "examples/gpt2/model.h"

namespace gpt2 {

// The next token, [1, 1], by the logits [1, vocabulary]: the most likely one at temperature 0, else drawn by their
// probabilities, each to the power of 1 / temperature.
inline Tensor<2, Int> pick(const Tensor<2>& logits, double temperature) {
  if (temperature == 0) return logits.argmax(1);
  // The largest of logits with Gumbel noise is a draw from their softmax (Gumbel 1954).
  const auto uniform = Tensor<2>::random(logits.dims(), Distribution::uniform(0, 1), logits.device());
  const auto noise = -((-uniform.log()).log());
  return (logits.to_float() / temperature + noise).argmax(1);
}

// Continues a text. A model without a tape (valid()); one thread at a time.
class Generator {
 public:
  // `prompt`: [1, length], at least one token and at most the context. Without a cache every step looks at all of the
  // text anew: slower, for comparison.
  Generator(Gpt2 net, Tensor<2, Int> prompt, double temperature = 0, bool has_cache = true)
      : net_(std::move(net)),
        text_{prompt},
        length_(prompt.dim(1)),
        fresh_(std::move(prompt)),
        temperature_(temperature),
        has_cache_(has_cache) {}

  // The next token, [1, 1]: recorded and sent, not waited for. A text as long as the context is forgotten but for its
  // later half.
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
  std::vector<Tensor<2, Int>> text_;  // all of it in pieces, as far as it is remembered
  std::int64_t length_;               // of all pieces
  Tensor<2, Int> fresh_;              // what the cache has not seen
  Cache cache_;
  const double temperature_;
  const bool has_cache_;
};

}  // namespace gpt2
