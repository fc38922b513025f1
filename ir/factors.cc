#include "ir/factors.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace burn::ir {

std::string_view name(FactorKind kind) {
  static constexpr std::array<std::string_view, 6> kNames{"map", "sum", "prod", "max", "min", "whole"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool combines(FactorKind kind) { return kind != FactorKind::map && kind != FactorKind::whole; }

ReduceFn combining_fn(FactorKind kind) {
  switch (kind) {
    case FactorKind::prod:
      return ReduceFn::prod;
    case FactorKind::max:
      return ReduceFn::max;
    case FactorKind::min:
      return ReduceFn::min;
    case FactorKind::map:
    case FactorKind::sum:
    case FactorKind::whole:
      break;
  }
  return ReduceFn::sum;
}

std::size_t Factors::add(std::int64_t size, FactorKind kind) {
  factors_.push_back({size, kind});
  dims_.resize(dims_.size() + columns(), std::int8_t{-1});
  return factors_.size() - 1;
}

Factors factors(const Op& op, Types operands, Types results) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) {
        if constexpr (HasFactors<Kind>)
          return factor_rules::read(Kind::kFactors, operands, results);
        else
          return factor_rules::factors(kind, operands, results);
      },
      op);
}

std::string factors_text(const Op& op) {
  return std::visit(
      []<typename Kind>(const Kind& kind) {
        if constexpr (HasFactors<Kind>)
          return std::string{Kind::kFactors};
        else
          return std::string{factor_rules::text(kind)};
      },
      op);
}

std::string to_string(const Factors& factors) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name(factors[f].kind), factors[f].size);
    for (std::size_t i = 0; i < factors.operand_count(); ++i) {
      if (const int dim = factors.operand_dim(f, i); dim >= 0) text += fmt::format(" in{}.{}", i, dim);
    }
    for (std::size_t i = 0; i < factors.result_count(); ++i) {
      if (const int dim = factors.result_dim(f, i); dim >= 0) text += fmt::format(" out{}.{}", i, dim);
    }
  }
  return text;
}

namespace factor_rules {
namespace {

// Removes the next piece of a text and the separator after it; returns the piece without surrounding spaces.
std::string_view take(std::string_view& text, std::string_view separator) {
  const auto end = text.find(separator);
  auto piece = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  while (piece.starts_with(' ')) piece.remove_prefix(1);
  while (piece.ends_with(' ')) piece.remove_suffix(1);
  return piece;
}

// Parses one rule in einsum notation.
class Reader {
 public:
  Reader(Types operands, Types results) : factors_(operands.size(), results.size()) {}

  void read_operand(std::string_view list, std::size_t i, const TensorType& type) {
    read_list(list, type, [&](std::size_t factor, int dim) { factors_.put_operand(factor, i, dim); });
  }
  void read_result(std::string_view list, std::size_t i, const TensorType& type) {
    is_result_ = true;
    read_list(list, type, [&](std::size_t factor, int dim) { factors_.put_result(factor, i, dim); });
  }

  // A factor that no result has is a sum.
  Factors finish() {
    Factors done(factors_.operand_count(), factors_.result_count());
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      const auto kind = factors_[f].kind == FactorKind::whole ? FactorKind::whole
                        : in_result_[f]                       ? FactorKind::map
                                                              : FactorKind::sum;
      done.add(factors_[f].size, kind);
      for (std::size_t i = 0; i < factors_.operand_count(); ++i) done.put_operand(f, i, factors_.operand_dim(f, i));
      for (std::size_t i = 0; i < factors_.result_count(); ++i) done.put_result(f, i, factors_.result_dim(f, i));
    }
    return done;
  }

 private:
  template <typename Put>
  void read_list(std::string_view list, const TensorType& type, const Put& put) {
    const auto dims = std::count(list.begin(), list.end(), ' ') + (list.empty() ? 0 : 1);
    int dim = 0;
    while (!list.empty()) {
      const auto word = take(list, " ");
      const bool repeats = word.ends_with("...");
      const int count = repeats ? type.shape.rank() - static_cast<int>(dims) + 1 : 1;
      for (int k = 0; k < count; ++k, ++dim) put(factor_of(word, k, type.shape[dim]), dim);
    }
  }

  std::size_t factor_of(std::string_view word, int k, std::int64_t size) {
    const bool is_whole = word.starts_with('!');
    for (std::size_t f = 0; f < names_.size() && !is_whole; ++f) {
      if (names_[f].word != word || names_[f].k != k) continue;
      in_result_[f] = in_result_[f] || is_result_;
      return f;
    }
    names_.push_back({word, k});
    in_result_.push_back(is_result_);
    return factors_.add(size, is_whole ? FactorKind::whole : FactorKind::map);
  }

  struct Name {
    std::string_view word;
    int k;  // which of the dims of `...`
  };
  Factors factors_;
  std::vector<Name> names_;
  std::vector<bool> in_result_;
  bool is_result_ = false;
};

}  // namespace

Factors read(std::string_view rule, Types operands, Types results, std::initializer_list<LinearOperands> linear) {
  Reader reader(operands, results);
  auto lists = take(rule, "->");
  for (std::size_t i = 0; i < operands.size(); ++i) reader.read_operand(take(lists, ","), i, *operands[i]);
  for (std::size_t i = 0; i < results.size(); ++i) reader.read_result(take(rule, ","), i, *results[i]);
  auto factors = reader.finish();
  factors.linear = linear;
  return factors;
}

Factors along(std::int64_t axis, Types operands, Types results, std::initializer_list<LinearOperands> linear) {
  Factors factors(operands.size(), results.size());
  const auto& shape = results[0]->shape;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const auto has_size = [&](const TensorType* type) { return type->shape[dim] == shape[dim]; };
    const bool is_one = std::all_of(operands.begin(), operands.end(), has_size) &&
                        std::all_of(results.begin(), results.end(), has_size);
    if (dim == axis && !is_one) continue;
    const auto factor = factors.add(shape[dim], dim == axis ? FactorKind::whole : FactorKind::map);
    for (std::size_t i = 0; i < operands.size(); ++i) factors.put_operand(factor, i, dim);
    for (std::size_t i = 0; i < results.size(); ++i) factors.put_result(factor, i, dim);
  }
  factors.linear = linear;
  return factors;
}

Factors all_whole(Types operands, Types results) { return {operands.size(), results.size()}; }

}  // namespace factor_rules
}  // namespace burn::ir
