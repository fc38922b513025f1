#include "client/tensor/named.h"

#include "client/fail.h"

namespace burn::detail {
namespace {

// "[batch 2, time 3]"
std::string described(const DimName* names, const ir::Shape& shape) {
  std::string text = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    text += (i > 0 ? ", " : "") + std::string{names[i].view()} + ' ' + std::to_string(shape[i]);
  }
  return text + ']';
}

[[noreturn]] void differs(const std::string& op, const DimName& name, std::int64_t a, std::int64_t b,
                          const std::string& shapes, const Loc& where) {
  client::fail(op + ": " + std::string{name.view()} + " is " + std::to_string(a) + " and " + std::to_string(b) + shapes,
               at(where));
}

}  // namespace

std::string joined(const DimName* names, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::string{names[i].view()};
  return text;
}

void check_named_sizes(const char* op, const DimName* a_names, const ir::Shape& a, const DimName* b_names,
                       const ir::Shape& b, const Loc& where) {
  // The names of b are among those of a, in the same order.
  for (int i = 0, j = 0; i < a.rank() && j < b.rank(); ++i) {
    if (!(a_names[i] == b_names[j])) continue;
    const std::int64_t of_a = a[i], of_b = b[j++];
    if (of_a == of_b || of_a == 1 || of_b == 1) continue;
    differs(op, a_names[i], of_a, of_b, " in " + described(a_names, a) + " and " + described(b_names, b), where);
  }
}

void check_contraction(const DimName& name, std::int64_t a, std::int64_t b, const Loc& where) {
  if (a != b) differs("matmul", name, a, b, "", where);
}

void print_names(std::ostream& out, const DimName* names, const ir::Shape& shape) {
  out << joined(names, static_cast<std::size_t>(shape.rank())) << ":\n";
}

}  // namespace burn::detail
