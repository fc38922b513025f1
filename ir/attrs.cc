#include "ir/attrs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/attr_visit.h"
#include "ir/op_image.h"

namespace burn::ir {
namespace {

// A received name made safe for a message: short and printable.
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

bool read(const AttrValueView& value, bool& field) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (!number || (*number != 0 && *number != 1)) return false;
  field = *number == 1;
  return true;
}

template <typename Enum>
  requires std::is_enum_v<Enum>
bool read(const AttrValueView& value, Enum& field) {
  const auto* text = std::get_if<std::string_view>(&value);
  const auto parsed = text ? parse_enum<Enum>(*text) : std::nullopt;
  if (parsed) field = *parsed;
  return parsed.has_value();
}

template <typename Field>
bool read(const AttrValueView& value, Field& field) {
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

std::string shown(const AttrValueView& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return quoted(*text);
  if (const auto* dims = std::get_if<Dims>(&value)) return to_string(*dims);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::to_string(std::get<std::int64_t>(value));
}

template <typename Field>
Status read_attr(std::string_view op, std::string_view attr, std::span<const AttrView> attrs, Field& field) {
  const AttrView* found = nullptr;
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
Result<Op> build(std::span<const AttrView> attrs) {
  Result<Op> op{Op{std::in_place_type<Kind>}};  // filled in place: ops are large
  auto& kind = std::get<Kind>(*op);
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
  if (!status.ok()) op = status;
  return op;
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
  class Collector final : public AttrSink {
   public:
    void attr(std::string_view name, std::int64_t value) override { attrs.push_back({std::string{name}, value}); }
    void attr(std::string_view name, double value) override { attrs.push_back({std::string{name}, value}); }
    void attr(std::string_view name, std::string_view value) override {
      attrs.push_back({std::string{name}, std::string{value}});
    }
    void attr(std::string_view name, const Dims& values) override { attrs.push_back({std::string{name}, values}); }

    std::vector<NamedAttr> attrs;
  } collector;
  each_changed_attr(op, collector);
  return std::move(collector.attrs);
}

void each_changed_attr(const Op& op, AttrSink& sink) {
  std::visit(
      [&]<typename Kind>(const Kind& kind) {
        [[maybe_unused]] static constexpr Kind kDefaults{};
        [[maybe_unused]] const auto give = [&](const auto& attr) {
          const auto& field = kind.*attr.member;
          using Field = std::remove_cvref_t<decltype(field)>;
          if (same_bits(field, kDefaults.*attr.member)) return;
          if constexpr (std::is_enum_v<Field>)
            sink.attr(attr.name, name(field));
          else if constexpr (std::is_same_v<Field, bool>)
            sink.attr(attr.name, std::int64_t{field ? 1 : 0});
          else
            sink.attr(attr.name, field);
        };
        std::apply([&](const auto&... attr) { (give(attr), ...); }, Kind::kAttrs);
      },
      op);
}

Result<Op> read_op(std::string_view kind_name, std::span<const AttrView> attrs) {
  using Build = Result<Op> (*)(std::span<const AttrView>);
  // Never destroyed: while the process exits, a session's thread may still read programs.
  static const auto& by_name = *new std::unordered_map<std::string_view, Build>{
#define OP(type) {type::kName, &build<type>},
      BURN_OPS(OP)
#undef OP
  };
  const auto found = by_name.find(kind_name);
  if (found == by_name.end()) return unimplemented(fmt::format("op {}", quoted(kind_name)));
  return found->second(attrs);
}

Result<Op> make_op(std::string_view kind_name, std::span<const NamedAttr> attrs) {
  std::vector<AttrView> views;
  views.reserve(attrs.size());
  for (const auto& attr : attrs)
    views.push_back({attr.name, std::visit([](const auto& value) { return AttrValueView{value}; }, attr.value)});
  return read_op(kind_name, views);
}

std::size_t write_image(const Op& op, std::byte* out) {
  const auto* end = std::visit([&](const auto& kind) { return detail::put_image(out, kind); }, op);
  return static_cast<std::size_t>(end - out);
}

}  // namespace burn::ir
