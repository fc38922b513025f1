#include "ir/catalogue.h"

#include <algorithm>

#include <fmt/format.h>
#include <xxhash.h>

#include "ir/attr_visit.h"
#include "ir/factors.h"

namespace burn::ir {
namespace {

template <typename Field>
std::string field_kind() {
  if constexpr (std::is_same_v<Field, Dims>)
    return "list";
  else if constexpr (std::is_same_v<Field, bool>)
    return "0 or 1";
  else if constexpr (std::is_same_v<Field, DType>)
    return "dtype";
  else if constexpr (std::is_same_v<Field, PointwiseFn>)
    return "function";
  else if constexpr (std::is_same_v<Field, double>)
    return "real";
  else if constexpr (!std::is_enum_v<Field>)
    return "number";
  else {
    std::string names;
    for (int i = 0; !name(static_cast<Field>(i)).empty(); ++i) {
      names += (i > 0 ? ", " : "") + std::string{name(static_cast<Field>(i))};
    }
    return names;
  }
}

CatalogueEntry pointwise_entry(const PointwiseRow& row) {
  static constexpr std::string_view kSignatures[] = {"T[...] -> T[...]", "T[...], T[...] -> T[...]",
                                                     "bool[...], T[...], T[...] -> T[...]"};
  static constexpr std::string_view kToBool[] = {"T[...] -> bool[...]", "T[...], T[...] -> bool[...]"};
  const bool to_bool = row.kind == PointwiseClass::compare || row.kind == PointwiseClass::test;
  const auto arity = static_cast<std::size_t>(row.arity - 1);
  return {std::string{row.name},
          "pointwise",
          std::string{to_bool ? kToBool[arity] : kSignatures[arity]},
          std::string{row.value},
          std::string{row.doc},
          {},
          ""};
}

template <typename Kind>
CatalogueEntry structured_entry() {
  CatalogueEntry entry{std::string{Kind::kName}, "structured", std::string{Kind::kSignature}, "", "", {}, ""};
  const Kind kind;
  entry.factors = factors_text(Op{std::in_place_type<Kind>});
  for_each_attr(kind, [&](std::string_view attr, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    entry.attrs.push_back(fmt::format("{}: {} = {}", attr, field_kind<Field>(), attr_text(field)));
  });
  return entry;
}

std::vector<CatalogueEntry> make_catalogue() {
  std::vector<CatalogueEntry> entries;
  entries.reserve(static_cast<std::size_t>(pointwise_count()));
  for (int i = 0; i < pointwise_count(); ++i) entries.push_back(pointwise_entry(row(static_cast<PointwiseFn>(i))));
#define OP(type) \
  if (!std::is_same_v<type, Pointwise>) entries.push_back(structured_entry<type>());
  BURN_OPS(OP)
#undef OP
  return entries;
}

// Escapes `|`, which would end a table's cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string_view class_text(PointwiseClass kind) {
  switch (kind) {
    case PointwiseClass::numeric:
      return "numbers";
    case PointwiseClass::floating:
      return "floats";
    case PointwiseClass::integral:
      return "whole numbers";
    case PointwiseClass::logical:
      return "bool";
    case PointwiseClass::compare:
      return "any, to bool";
    case PointwiseClass::test:
      return "floats, to bool";
    case PointwiseClass::choose:
      return "bool and any";
  }
  return {};
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = make_catalogue();
  return entries;
}

std::uint64_t op_set_fingerprint() {
  static const std::uint64_t fingerprint = [] {
    std::string text;  // one line per fact; without docs, which do not affect results
    for (int i = 0; i < kDTypeCount; ++i) text += fmt::format("dtype {}\n", name(static_cast<DType>(i)));
    for (const auto& entry : catalogue()) {
      text += fmt::format("{} {} | {} | {}\n", entry.tier, entry.name, entry.signature, entry.formula);
      for (const auto& attr : entry.attrs) text += fmt::format("  {}\n", attr);
    }
    return XXH3_64bits(text.data(), text.size());
  }();
  return fingerprint;
}

std::string_view semantics_of(std::string_view op, std::string_view written) {
  const auto section = written.find(fmt::format("\n### `{}`\n", op));
  if (section == std::string_view::npos) return {};
  auto text = written.substr(section, written.find("\n### ", section + 1) - section);
  const auto begin = text.find("\n**Semantics.**");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + 1);
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::string catalogue_markdown(std::string_view written) {
  std::string text =
      "# Ops\n\n"
      "Generated from `ir/ops/pointwise.def` and `ir/ops/` by the test `ir.Catalogue`, which writes this file anew "
      "where\n"
      "`BURN_UPDATE_DOCS=1` is set. What stands from `**Semantics.**` to the end of a section is written by hand, and\n"
      "kept.\n\n"
      "## Pointwise\n\n"
      "Element by element; an operand of rank 0 stands for every element. Every dim is map (see below).\n\n"
      "| Name | Method | Takes | Formula | Gradient | Meaning |\n|---|---|---|---|---|---|\n";
  for (int i = 0; i < pointwise_count(); ++i) {
    const auto& r = row(static_cast<PointwiseFn>(i));
    text += fmt::format("| `{}` | `{}` | {} | `{}` | {} | {} |\n", r.name, r.method, class_text(r.kind), cell(r.value),
                        r.differentiable ? "yes" : "", cell(r.doc));
  }
  text +=
      "\n## Structured\n\n"
      "Behind `=` stands what an attribute is where it is absent. A program that breaks a constraint is refused with\n"
      "INVALID_ARGUMENT, where it is recorded and by the worker. Tests in `tests/ir` cite constraints\n"
      "(`// matmul C2`). dim(x, -1) is the size of the last dim; floats are f16, bf16, f32 and f64.\n\n"
      "How an op is computed in parts (`ir/factors.h`) stands behind *Factors*, dims by names: those that a result "
      "has\n"
      "are map, and split where operands are; over the others the parts' results add up; `!` cannot be split. Words\n"
      "stand where dims depend on attributes.\n\n"
      "For every op, under the name `all`:\n\n"
      "* (C1) It has as many operands as the signature; `?` marks those that may be missing, `...` any number.\n"
      "* (C2) No size of a result is negative, and the product of those that are not 0 is at most 2^59.\n";
  for (const auto& entry : catalogue()) {
    if (entry.tier != "structured") continue;
    text += fmt::format("\n### `{}`\n\n`{}`\n", entry.name, entry.signature);
    for (std::size_t i = 0; i < entry.attrs.size(); ++i) {
      text += (i == 0 ? "\nAttributes: " : "; ") + entry.attrs[i] + (i + 1 == entry.attrs.size() ? "\n" : "");
    }
    text += fmt::format("\nFactors: `{}`\n", entry.factors);
    if (const auto semantics = semantics_of(entry.name, written); !semantics.empty()) {
      text += fmt::format("\n{}\n", semantics);
    }
  }
  return text;
}

}  // namespace burn::ir
