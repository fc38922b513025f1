#include <algorithm>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "proto/burn.pb.h"
#include "proto/codec_internal.h"

namespace burn::proto {

// Checks that burn.proto numbers the dtypes as ir/types/dtype.def does.
static_assert(v1::DType_ARRAYSIZE == ir::kDTypeCount);
static_assert(v1::F64 == static_cast<int>(ir::DType::f64) && v1::BF16 == static_cast<int>(ir::DType::bf16));
static_assert(v1::I64 == static_cast<int>(ir::DType::i64) && v1::U64 == static_cast<int>(ir::DType::u64));
static_assert(v1::BOOL == static_cast<int>(ir::DType::bool_));

std::optional<std::string_view> read_block(google::protobuf::io::CodedInputStream& in, std::string_view whole) {
  int length = 0;
  if (!in.ReadVarintSizeAsInt(&length)) return std::nullopt;
  const auto begin = static_cast<std::size_t>(in.CurrentPosition());
  if (static_cast<std::size_t>(length) > whole.size() - begin || !in.Skip(length)) return std::nullopt;
  return whole.substr(begin, static_cast<std::size_t>(length));
}

void to_wire(const Status& status, v1::Status* out) {
  out->set_code(static_cast<std::uint32_t>(status.code()));
  out->set_message(wire_text(status.message()));
}

Status from_wire(const v1::Status& status) {
  const auto code = status.code();
  if (code == 0) return {};
  const bool canonical = code <= static_cast<std::uint32_t>(StatusCode::unauthenticated);
  return {canonical ? static_cast<StatusCode>(code) : StatusCode::unknown, status.message().substr(0, kMaxTextBytes)};
}

std::string wire_text(std::string_view text) {
  std::string out;
  out.reserve(std::min(text.size(), kMaxTextBytes));
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      // The second byte's range excludes overlong forms, surrogates and code points beyond U+10FFFF.
      const unsigned low = k > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
      const unsigned high = k > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
      valid = next >= low && next <= high;
    }
    const auto step = valid ? length : 1;
    if (out.size() + step > kMaxTextBytes) break;
    out += valid ? text.substr(i, length) : "?";
    i += step;
  }
  return out;
}

void to_wire(const ir::TensorType& type, v1::TensorType* out) {
  out->set_dtype(static_cast<v1::DType>(type.dtype));
  for (const auto size : type.shape) out->add_shape(static_cast<std::uint64_t>(size));
}

Result<ir::TensorType> from_wire(const v1::TensorType& type) {
  if (type.dtype() < 0 || type.dtype() >= ir::kDTypeCount) {
    return invalid_argument(fmt::format("{} is not the number of a dtype", static_cast<int>(type.dtype())));
  }
  if (type.shape_size() > ir::kMaxRank) {
    return invalid_argument(fmt::format("a shape of {} dims; at most {} may be", type.shape_size(), ir::kMaxRank));
  }
  ir::TensorType result{static_cast<ir::DType>(type.dtype()), {}};
  for (const auto size : type.shape()) result.shape.push_back(static_cast<std::int64_t>(size));
  if (!ir::checked_num_elements(result.shape)) {
    return invalid_argument(fmt::format("there is no tensor of shape {}", ir::to_string(result.shape)));
  }
  return result;
}

}  // namespace burn::proto
