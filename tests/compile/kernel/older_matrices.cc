#include "tests/compile/kernel/older_matrices.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace burn::testing {

SpirvWords with_older_matrices(const SpirvWords& words) {
  using Words = SpirvWords;
  enum : std::uint32_t {
    capability = 17,
    extension = 10,
    type_bool = 20,
    type_float = 22,
    constant_true = 41,
    constant_false = 42,
    function = 54,
    type_matrix = 4456,
    load = 4457,
    store = 4458,
    multiply = 4459
  };
  if (std::ranges::none_of(words, [](std::uint32_t word) { return (word & 0xffff) == type_matrix; })) return words;
  Words out(words.begin(), words.begin() + 5);
  const std::uint32_t no = out[3], yes = out[3] + 1, flag = out[3] + 2;
  out[3] += 3;
  std::map<std::uint32_t, std::uint32_t> numbers, layouts;  // constants; a layout as a bool
  std::map<Words, std::uint32_t> types;                     // of matrices
  std::map<std::uint32_t, std::uint32_t> renamed;
  bool has_f16 = false, has_bools = false;
  std::uint32_t bool_type = 0;
  const auto put = [&](std::uint32_t op, const Words& operands) {
    out.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | op);
    out.insert(out.end(), operands.begin(), operands.end());
  };
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const auto op = words[at] & 0xffff;
    Words operands(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   words.begin() + static_cast<std::ptrdiff_t>(at + (words[at] >> 16)));
    if (op == 43) numbers[operands[1]] = operands[2];
    if (op == type_bool) bool_type = operands[0];
    const auto layout = [&](std::size_t k) { return numbers[operands[k]] == 0 ? no : yes; };
    if (op == capability && (operands[0] == 5116 || operands[0] == 5118)) {
      has_f16 = has_f16 || operands[0] == 5116;
      if (operands[0] == 5116) put(op, {9});
    } else if (op == capability && operands[0] == 6022) {
      put(op, {5357});
    } else if (op == extension) {
      const std::string name(reinterpret_cast<const char*>(operands.data()));
      if (name.find("cooperative") == std::string::npos) continue;
      Words text(7);
      std::memcpy(text.data(), "SPV_NV_cooperative_matrix", 25);
      put(op, text);
    } else if (op == type_float && operands.size() == 3) {
      put(op, {operands[0], operands[1]});
    } else if (op == type_matrix) {
      operands.pop_back();
      const auto [known, is_new] = types.try_emplace(Words(operands.begin() + 1, operands.end()), operands[0]);
      if (is_new) put(5358, operands);
      renamed[operands[0]] = known->second;
    } else if (op == load) {
      put(5359, {renamed[operands[0]], operands[1], operands[2], operands[4], layout(3), operands[5]});
    } else if (op == store) {
      put(5360, {operands[0], operands[1], operands[3], layout(2), operands[4]});
    } else if (op == multiply) {
      put(5361, operands);
    } else {
      if (op == function && !has_bools) {
        if (bool_type == 0) put(type_bool, {bool_type = flag});
        put(constant_false, {bool_type, no});
        put(constant_true, {bool_type, yes});
        has_bools = true;
      }
      put(op, operands);
    }
  }
  return out;
}

}  // namespace burn::testing
