// Attributes of any op as named values, derived from kAttrs. Used by the wire format, printing and docs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "ir/op.h"

namespace burn::ir {

// Booleans are stored as 0 and 1, enums and dtypes as their names, floating-point attributes as doubles.
using AttrValue = std::variant<std::int64_t, double, std::string, Dims>;

struct NamedAttr {
  std::string name;
  AttrValue value;
  friend bool operator==(const NamedAttr&, const NamedAttr&) = default;
};

// The same with texts that it does not own, so that ops are decoded and encoded without copies.
using AttrValueView = std::variant<std::int64_t, double, std::string_view, Dims>;
struct AttrView {
  std::string_view name;
  AttrValueView value;
};

// The kName of the op's struct, which identifies the op on the wire.
std::string_view kind_name(const Op& op);

std::vector<NamedAttr> attrs_of(const Op& op);
// Only the attributes that differ from their defaults in any bit (-0.0 is not 0.0). Only these are sent.
std::vector<NamedAttr> changed_attrs_of(const Op& op);

// Receives attributes one by one.
class AttrSink {
 public:
  virtual ~AttrSink() = default;
  virtual void attr(std::string_view name, std::int64_t value) = 0;
  virtual void attr(std::string_view name, double value) = 0;
  virtual void attr(std::string_view name, std::string_view value) = 0;
  virtual void attr(std::string_view name, const Dims& values) = 0;
};
void each_changed_attr(const Op& op, AttrSink& sink);

// Makes the op of that name. Attributes must have the right type and occur at most once; absent ones have the default
// of the op's struct.
// Errors: UNIMPLEMENTED for an unknown op, INVALID_ARGUMENT for attributes that do not fit.
Result<Op> read_op(std::string_view kind_name, std::span<const AttrView> attrs);
Result<Op> make_op(std::string_view kind_name, std::span<const NamedAttr> attrs);

// Appends a fixed, unambiguous byte image of the op, for hashing. At most kMaxOpImage bytes.
inline constexpr std::size_t kMaxOpImage = 512;
std::size_t write_image(const Op& op, std::byte* out);

}  // namespace burn::ir
