#include "backends/cpu/fused/tile_codes.h"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "compile/plan/guards.h"
#include "ir/attrs.h"

namespace burn::backends::cpu {
namespace {

// Collects bytes of a key, which are appended to it at once.
class KeyPart {
 public:
  explicit KeyPart(std::string& key) : key_(key) {}
  ~KeyPart() { key_.append(bytes_, static_cast<std::size_t>(end_ - bytes_)); }
  KeyPart(const KeyPart&) = delete;
  KeyPart& operator=(const KeyPart&) = delete;

  template <typename T>
  void put(T number) {
    static_assert(std::is_integral_v<T>);
    std::memcpy(end_, &number, sizeof(number));
    end_ += sizeof(number);
  }
  void put(const ir::Shape& shape) {
    put(static_cast<std::uint8_t>(shape.rank()));
    for (const auto size : shape) put(size);
  }
  void put(const ir::Op& op) { end_ += ir::write_image(op, reinterpret_cast<std::byte*>(end_)); }

 private:
  std::string& key_;
  char bytes_[ir::kMaxOpImage + 64];  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  char* end_ = bytes_;
};

}  // namespace

// The key has all that compile_group() reads, with values by their positions: the types of reads; ops, types, levels
// and operands of members; which of them are results.
void TileCodes::write_key(const compile::Group& group, const compile::PlanStep& step) {
  key_.clear();
  {
    KeyPart part(key_);
    part.put(group.domain);
    part.put(group.row_size);
    part.put(static_cast<std::uint32_t>(step.reads.size()));
  }
  std::int32_t position = 0;
  for (const auto ref : step.reads) {
    const auto& type = program_.type_of(ref);
    positions_.set(ref, position++);
    const bool is_commit = !ref.is_input() && compile::is_commit(program_.maker_of(ref));
    KeyPart part(key_);
    part.put(static_cast<std::uint8_t>(type.dtype));
    part.put(type.shape);
    part.put(static_cast<std::uint8_t>(is_commit));
  }
  for (const auto& [n, level] : group.members) {
    const auto& node = program_.nodes[static_cast<std::size_t>(n)];
    KeyPart part(key_);
    part.put(node.op);
    part.put(static_cast<std::uint8_t>(level));
    part.put(static_cast<std::uint8_t>(program_.type_of(node).dtype));
    for (const auto ref : program_.operands_of(node)) part.put(positions_.of(ref));
    positions_.set(ir::Ref::value(static_cast<std::int32_t>(node.first_value)), position++);
  }
  for (const auto ref : step.results) KeyPart(key_).put(positions_.of(ref));
}

Result<std::shared_ptr<const TileCode>> TileCodes::of(const compile::Group& group, const compile::PlanStep& step) {
  write_key(group, step);
  if (const auto known = codes_.find(key_); known != codes_.end()) return known->second;
  BURN_TRY(auto code, compile_group(program_, group, step, positions_));
  return codes_.emplace(key_, std::make_shared<const TileCode>(std::move(code))).first->second;
}

}  // namespace burn::backends::cpu
