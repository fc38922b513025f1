#include "client/ops/einsum.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "client/fail.h"
#include "client/ops/statistics.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

// A tensor with a label for each dim. The labels of "..." are digits, '7' for the last dim, so that they align at the
// right.
struct Named {
  Value value;
  std::string labels;
};

class Equation {
 public:
  Equation(std::string_view text, std::span<const Value> operands, const Site& site) : text_(text), site_(site) {
    std::string compact;
    for (const char c : text) {
      if (c != ' ') compact += c;
    }
    const auto arrow = compact.find("->");
    std::string inputs = compact.substr(0, arrow);
    std::vector<std::string> terms{""};
    for (const char c : inputs) {
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    }
    if (terms.size() != operands.size()) {
      complain(std::to_string(terms.size()) + " terms for " + std::to_string(operands.size()) + " tensors");
    }
    for (std::size_t i = 0; i < terms.size(); ++i) add(terms[i], operands[i]);
    result_ = arrow == std::string::npos ? implied() : named(compact.substr(arrow + 2), broadcast_dims_, true);
    for (const char label : result_) {
      if (sizes_.find(label) == sizes_.end()) complain(std::string{"no operand has the label "} + label);
      if (std::count(result_.begin(), result_.end(), label) > 1)
        complain(std::string{"the result has "} + label + " twice");
    }
  }

  Value compute() {
    for (auto& term : terms_) term = summed(term, needed(&term));
    while (terms_.size() > 1) {
      const auto [a, b] = cheapest();
      Named left = terms_[a], right = terms_[b];
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(b));
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(a));
      terms_.push_back(product(left, right, needed(nullptr)));
    }
    Named& last = terms_[0];
    last = summed(last, result_);
    if (result_.empty()) return reshape(last.value, {1}, site_);
    ir::Dims order;
    ir::Shape shape;
    for (const char label : result_) {
      order.push_back(static_cast<std::int64_t>(last.labels.find(label)));
      shape.push_back(sizes_.at(label));
    }
    return expand(permute(last.value, order, site_), shape, site_);
  }

 private:
  [[noreturn]] void complain(const std::string& what) const {
    fail("einsum \"" + std::string{text_} + "\": " + what, site_);
  }

  // The labels of a term; "..." is replaced by `dims` digits.
  std::string named(const std::string& term, int dims, bool is_result) const {
    std::string labels;
    for (std::size_t i = 0; i < term.size(); ++i) {
      const char c = term[i];
      if (c == '.' && term.compare(i, 3, "...") == 0) {
        for (int k = 0; k < dims; ++k) labels += static_cast<char>('0' + ir::kMaxRank - dims + k);
        i += 2;
      } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
        labels += c;
      } else {
        complain(std::string{"'"} + c + "' is neither a letter nor part of \"...\"");
      }
    }
    if (is_result && labels.size() > static_cast<std::size_t>(ir::kMaxRank)) complain("the result has too many dims");
    return labels;
  }

  void add(const std::string& term, const Value& x) {
    fail_if_empty(x, "einsum", site_);
    const auto dots = term.find("...");
    const int letters = static_cast<int>(term.size()) - (dots == std::string::npos ? 0 : 3);
    const int rest = x.rank() - letters;
    if (rest < 0 || (rest > 0 && dots == std::string::npos)) {
      complain("\"" + term + "\" does not fit " + ir::to_string(x.type()));
    }
    broadcast_dims_ = std::max(broadcast_dims_, dots == std::string::npos ? 0 : rest);
    Named operand{x, named(term, rest, false)};
    for (int i = 0; i < x.rank(); ++i) {
      auto& size = sizes_.try_emplace(operand.labels[static_cast<std::size_t>(i)], 1).first->second;
      if (size == 1) size = x.dim(i);
      if (x.dim(i) != size && x.dim(i) != 1) {
        complain(std::string{"label "} + operand.labels[static_cast<std::size_t>(i)] + " has sizes " +
                 std::to_string(size) + " and " + std::to_string(x.dim(i)));
      }
    }
    while (take_diagonal(operand)) continue;
    terms_.push_back(std::move(operand));
  }

  // Replaces two dims of the same label by one, their diagonal.
  bool take_diagonal(Named& x) const {
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      const auto j = x.labels.find(x.labels[i], i + 1);
      if (j == std::string::npos) continue;
      const auto size = x.value.dim(static_cast<int>(i));
      if (size != x.value.dim(static_cast<int>(j))) complain(std::string{"no diagonal of label "} + x.labels[i]);
      ir::Dims order{static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)};
      ir::Shape shape{size * size};
      for (int k = 0; k < x.value.rank(); ++k) {
        if (order[0] == k || order[1] == k) continue;
        order.push_back(k);
        shape.push_back(x.value.dim(k));
      }
      const Value lines = apply(ir::Reshape{shape}, permute(x.value, order, site_), site_);
      const Range every{0, size == 0 ? 0 : size * size, size + 1};
      x.value = slice(lines, std::span{&every, 1}, site_);
      std::string labels(1, x.labels[i]);
      for (std::size_t k = 0; k < x.labels.size(); ++k) {
        if (k != i && k != j) labels += x.labels[k];
      }
      x.labels = labels;
      return true;
    }
    return false;
  }

  // The result's labels for an equation without an arrow: "..." and the letters that occur once. Sorted: digits,
  // capitals, small letters.
  std::string implied() const {
    std::string labels;
    for (const auto& [label, size] : sizes_) {
      if (label <= '9' || std::count(text_.begin(), text_.end(), label) == 1) labels += label;
    }
    return labels;
  }

  // The labels that the result or a term other than `but` needs.
  std::string needed(const Named* but) const {
    std::string labels = result_;
    for (const auto& term : terms_) {
      if (&term != but) labels += term.labels;
    }
    return labels;
  }

  // Sums x over the dims whose labels are not in `wanted`.
  Named summed(const Named& x, const std::string& wanted) const {
    ir::Dims gone;
    Named result{x.value, ""};
    for (std::size_t i = 0; i < x.labels.size(); ++i) {
      if (wanted.find(x.labels[i]) != std::string::npos) {
        result.labels += x.labels[i];
        continue;
      }
      gone.push_back(static_cast<std::int64_t>(i));
    }
    if (gone.empty()) return x;
    result.value = reduce_in(x.value.dtype(), ir::ReduceFn::sum, x.value, gone, site_);  // products keep the dtype
    ir::Shape shape;
    for (int i = 0; i < x.value.rank(); ++i) {
      if (!gone.contains(i)) shape.push_back(x.value.dim(i));
    }
    result.value = apply(ir::Reshape{shape}, result.value, site_);
    return result;
  }

  std::pair<std::size_t, std::size_t> cheapest() const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < terms_.size(); ++a) {
      for (std::size_t b = a + 1; b < terms_.size(); ++b) {
        std::string others = result_;
        for (std::size_t k = 0; k < terms_.size(); ++k) {
          if (k != a && k != b) others += terms_[k].labels;
        }
        std::string both = terms_[a].labels;
        for (const char label : terms_[b].labels) {
          if (both.find(label) == std::string::npos) both += label;
        }
        double work = 1, size = 1;
        for (const char label : both) {
          work *= static_cast<double>(sizes_.at(label));
          if (others.find(label) != std::string::npos) size *= static_cast<double>(sizes_.at(label));
        }
        if (work + size < least) least = work + size, best = {a, b};
      }
    }
    return best;
  }

  // x with the dims `labels`, in that order and expanded to full size.
  Value arranged(const Named& x, const std::string& labels) const {
    ir::Dims order;
    ir::Shape shape;
    for (const char label : labels) {
      order.push_back(static_cast<std::int64_t>(x.labels.find(label)));
      shape.push_back(sizes_.at(label));
    }
    return expand(permute(x.value, order, site_), shape, site_);
  }

  Named product(const Named& a, const Named& b, const std::string& wanted) const {
    std::string batch, left, right, inner;
    for (const char label : a.labels) {
      const bool in_both = b.labels.find(label) != std::string::npos;
      const bool is_wanted = wanted.find(label) != std::string::npos;
      (in_both ? (is_wanted ? batch : inner) : left) += label;  // unwanted labels of one operand are summed already
    }
    for (const char label : b.labels) {
      if (a.labels.find(label) == std::string::npos) right += label;
    }
    const std::string labels = batch + left + right;
    if (labels.size() > static_cast<std::size_t>(ir::kMaxRank)) complain("a product of two has too many dims");
    if (inner.empty()) return {pointwise(Fn::mul, over(a, labels), over(b, labels), site_), labels};
    const auto lhs =
        apply(ir::Reshape{{count(batch), count(left), count(inner)}}, arranged(a, batch + left + inner), site_);
    const auto rhs =
        apply(ir::Reshape{{count(batch), count(inner), count(right)}}, arranged(b, batch + inner + right), site_);
    ir::Shape shape;
    for (const char label : labels) shape.push_back(sizes_.at(label));
    return {apply(ir::Reshape{shape}, matmul(lhs, rhs, site_), site_), labels};
  }

  // x as an operand that broadcasts over the dims `labels`.
  Value over(const Named& x, const std::string& labels) const {
    ir::Dims order;
    ir::Shape shape;
    for (const char label : labels) {
      const auto at = x.labels.find(label);
      if (at == std::string::npos) {
        shape.push_back(1);
      } else {
        order.push_back(static_cast<std::int64_t>(at));
        shape.push_back(x.value.dim(static_cast<int>(at)));
      }
    }
    return apply(ir::Reshape{shape}, permute(x.value, order, site_), site_);
  }

  std::int64_t count(const std::string& labels) const {
    std::int64_t product = 1;
    for (const char label : labels) product *= sizes_.at(label);
    return product;
  }

  std::string_view text_;
  Site site_;
  std::vector<Named> terms_;
  std::map<char, std::int64_t> sizes_;
  std::string result_;
  int broadcast_dims_ = 0;
};

}  // namespace

Value einsum(std::string_view equation, std::span<const Value> operands, const Site& site) {
  return Equation{equation, operands, site}.compute();
}

}  // namespace burn::client
