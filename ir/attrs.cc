#include "ir/attrs.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "ir/attr_visit.h"
#include "ir/op_image.h"

namespace burn::ir {
namespace {

// A name off the wire, fit for a message: short and printable.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 64;
  std::string shown{text.substr(0, kShown)};
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~' || c == '"'; }, '?');
  return fmt::format("\"{}{}\"", shown, text.size() > kShown ? "..." : "");
}

// ---- Field -> AttrValue

template <typename Field>
AttrValue value_of(const Field& field) {
  if constexpr (std::is_enum_v<Field>)
    return std::string{name(field)};
  else if constexpr (std::is_same_v<Field, bool>)
    return std::int64_t{field ? 1 : 0};
  else
    return field;
}

// ---- AttrValue -> field; false: it does not fit

bool read(const AttrValue& value, bool& field) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (!number || (*number != 0 && *number != 1)) return false;
  field = *number == 1;
  return true;
}

template <typename Enum>
  requires std::is_enum_v<Enum>
bool read(const AttrValue& value, Enum& field) {
  const auto* text = std::get_if<std::string>(&value);
  const auto parsed = text ? parse_enum<Enum>(*text) : std::nullopt;
  if (parsed) field = *parsed;
  return parsed.has_value();
}

template <typename Field>
bool read(const AttrValue& value, Field& field) {
  const auto* same = std::get_if<Field>(&value);
  if (same) field = *same;
  return same != nullptr;
}

template <typename Field>
std::string_view wanted() {
  if constexpr (std::is_enum_v<Field>)
    return "one of its names";
  else if constexpr (std::is_same_v<Field, bool>)
    return "0 or 1";
  else if constexpr (std::is_same_v<Field, Dims>)
    return "a list of numbers";
  else if constexpr (std::is_same_v<Field, double>)
    return "a real number";
  else
    return "a number";
}

std::string shown(const AttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) return to_string(*dims);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::to_string(std::get<std::int64_t>(value));
}

template <typename Field>
Status read_attr(std::string_view op, std::string_view attr, std::span<const NamedAttr> attrs, Field& field) {
  const NamedAttr* found = nullptr;
  for (const auto& candidate : attrs) {
    if (candidate.name != attr) continue;
    if (found) return invalid_argument(fmt::format("{}: attribute \"{}\" appears twice", op, attr));
    found = &candidate;
  }
  if (found && !read(found->value, field)) {
    return invalid_argument(
        fmt::format("{}: attribute \"{}\" must be {}, not {}", op, attr, wanted<Field>(), shown(found->value)));
  }
  return {};
}

template <typename Kind>
Result<Op> build(std::span<const NamedAttr> attrs) {
  Kind kind;
  for (const auto& given : attrs) {
    bool known = false;
    for_each_attr(kind, [&](std::string_view attr, auto&) { known = known || attr == given.name; });
    if (!known) {
      return invalid_argument(fmt::format("{}: unknown attribute {}", Kind::kName, quoted(given.name)));
    }
  }
  Status status;
  for_each_attr(kind, [&](std::string_view attr, auto& field) {
    if (status.ok()) status = read_attr(Kind::kName, attr, attrs, field);
  });
  if (!status.ok()) return status;
  return Op{kind};
}

template <typename Field>
bool same_bits(const Field& a, const Field& b) {
  if constexpr (std::is_same_v<Field, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else
    return a == b;
}

static_assert(sizeof(Op) <= kMaxOpImage);

}  // namespace

std::string_view kind_name(const Op& op) {
  return std::visit([](const auto& kind) { return std::remove_cvref_t<decltype(kind)>::kName; }, op);
}

std::vector<NamedAttr> attrs_of(const Op& op) {
  std::vector<NamedAttr> attrs;
  std::visit(
      [&](const auto& kind) {
        for_each_attr(kind, [&](std::string_view attr, const auto& field) {
          attrs.push_back({std::string{attr}, value_of(field)});
        });
      },
      op);
  return attrs;
}

std::vector<NamedAttr> changed_attrs_of(const Op& op) {
  std::vector<NamedAttr> attrs;
  std::visit(
      [&](const auto& kind) {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        const Kind defaults;
        [[maybe_unused]] const auto add = [&](const auto& attr) {
          if (!same_bits(kind.*attr.member, defaults.*attr.member))
            attrs.push_back({std::string{attr.name}, value_of(kind.*attr.member)});
        };
        std::apply([&](const auto&... attr) { (add(attr), ...); }, Kind::kAttrs);
      },
      op);
  return attrs;
}

Result<Op> make_op(std::string_view kind_name, std::span<const NamedAttr> attrs) {
#define OP(type) \
  if (kind_name == type::kName) return build<type>(attrs);
  BURN_OPS(OP)
#undef OP
  return unimplemented(fmt::format("op {}", quoted(kind_name)));
}

std::size_t write_image(const Op& op, std::byte* out) {
  const auto* end = std::visit([&](const auto& kind) { return detail::put_image(out, kind); }, op);
  return static_cast<std::size_t>(end - out);
}

}  // namespace burn::ir
