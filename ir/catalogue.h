// The whole op set as data: tests walk it, docs/ops.md is printed from it, the handshake compares its fingerprint.
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
  std::string factors;  // structured only: how it is computed in parts (ir/factors.h)
};

const std::vector<CatalogueEntry>& catalogue();

// 64 bits over names, attributes and formulas: two builds with the same fingerprint mean the same by every program.
std::uint64_t op_set_fingerprint();

// What docs/ops.md, of which `written` is the text, says by hand of a structured op: from "**Semantics.**" to the end
// of its section. Empty if it says nothing.
std::string_view semantics_of(std::string_view op, std::string_view written);

// The text of docs/ops.md, with the semantics that `written`, its present text, has.
std::string catalogue_markdown(std::string_view written);

}  // namespace burn::ir
