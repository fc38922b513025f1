// Decodes attributes of ops.
#include <bit>

#include <fmt/format.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"
#include "proto/wire.h"

namespace burn::proto {
namespace {

Status malformed(std::string_view what) { return invalid_argument(fmt::format("a malformed {}", what)); }

// The numbers of an attribute, packed or one at a time. Numbers beyond the limit are only counted.
class AttrNumbers {
 public:
  bool read(std::string_view bytes) {
    WireReader in{bytes};
    int field = 0;
    auto type = WireType::varint;
    std::uint64_t number = 0;
    while (!in.at_end()) {
      if (!in.tag(field, type)) return false;
      if (field == v1::Attr::Ints::kValuesFieldNumber && type == WireType::block) {
        std::string_view packed;
        if (!in.block(packed)) return false;
        for (WireReader list{packed}; !list.at_end(); add(number))
          if (!list.varint(number)) return false;
      } else if (field == v1::Attr::Ints::kValuesFieldNumber && type == WireType::varint) {
        if (!in.varint(number)) return false;
        add(number);
      } else if (!in.skip(field, type)) {
        return false;
      }
    }
    return true;
  }

  Result<ir::Dims> take() const {
    if (count_ <= ir::kMaxRank) return values_;
    return invalid_argument(fmt::format("an attribute of {} numbers; at most {} may be", count_, ir::kMaxRank));
  }

 private:
  void add(std::uint64_t number) {
    if (count_++ < ir::kMaxRank) values_.push_back(zigzag_decode(number));
  }

  ir::Dims values_;
  int count_ = 0;
};

}  // namespace

Result<ir::AttrView> read_attr(std::string_view bytes) {
  const auto bad = [] { return malformed("attribute"); };
  WireReader in{bytes};
  ir::AttrView attr;
  int value = 0;  // the field that has the value; the last one wins
  AttrNumbers numbers;
  std::string_view block;
  while (!in.at_end()) {
    int field = 0;
    auto type = WireType::varint;
    std::uint64_t number = 0;
    if (!in.tag(field, type)) return bad();
    if (field == v1::Attr::kNameFieldNumber && type == WireType::block) {
      if (!in.block(attr.name)) return bad();
      continue;
    } else if (field == v1::Attr::kNumberFieldNumber && type == WireType::varint) {
      if (!in.varint(number)) return bad();
      attr.value = zigzag_decode(number);
    } else if (field == v1::Attr::kTextFieldNumber && type == WireType::block) {
      if (!in.block(block)) return bad();
      attr.value = block;
    } else if (field == v1::Attr::kNumbersFieldNumber && type == WireType::block) {
      if (value != field) numbers = {};  // a repeated field is continued
      if (!in.block(block) || !numbers.read(block)) return bad();
    } else if (field == v1::Attr::kRealFieldNumber && type == WireType::fixed64) {
      if (!in.fixed64(number)) return bad();
      attr.value = std::bit_cast<double>(number);
    } else {
      if (!in.skip(field, type)) return bad();
      continue;
    }
    value = field;
  }
  if (value == 0) return invalid_argument("an attribute without a value");
  if (value == v1::Attr::kNumbersFieldNumber) {
    BURN_TRY(const auto dims, numbers.take());
    attr.value = dims;
  }
  return attr;
}

}  // namespace burn::proto
