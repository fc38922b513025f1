// The whole op set as data. Tests iterate over it, docs/ops.md is generated from it, and the handshake compares its
// fingerprint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace burn::ir {

struct CatalogueEntry {
  std::string name;       // "exp", "reduce"
  std::string tier;       // "pointwise" or "structured"
  std::string signature;  // "[..., m, k], [..., k, n] -> [..., m, n]"
  std::string formula;    // pointwise only
  std::string doc;        // pointwise only: the structured ones are described in ir/ops/
  std::vector<std::string> attrs;
  std::string factors;  // structured only: how it can be split (ir/factors.h)
};

const std::vector<CatalogueEntry>& catalogue();

// A 64-bit hash of names, attributes and formulas: builds with the same fingerprint interpret every program alike.
std::uint64_t op_set_fingerprint();

// The hand-written description of a structured op in `written`, the text of docs/ops.md: from "**Semantics.**" to the
// end of the op's section. Empty if there is none.
std::string_view semantics_of(std::string_view op, std::string_view written);

// Generates docs/ops.md, keeping the hand-written semantics of `written`, its current text.
std::string catalogue_markdown(std::string_view written);

}  // namespace burn::ir
