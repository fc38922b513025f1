// Finds nodes that compute the same values (common subexpressions), as a program is read from first node to last.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/program.h"

namespace burn::compile {

// A hash table of nodes, by the bytes of their op and operands: equal bytes mean equal results. Called for every node
// of every new program, so all bytes are stored in one vector and no memory is allocated per node.
class EqualNodes {
 public:
  explicit EqualNodes(std::size_t nodes) : slots_(std::bit_ceil(2 * nodes + 1), kNone) {
    known_.reserve(nodes);
    bytes_.reserve(nodes * kUsualBytes);
  }

  // Returns the first result of an equal node. If there is none yet, stores `place`, the first result of this node, and
  // returns it.
  ir::Ref find_or_add(const ir::Op& op, std::span<const ir::Ref> operands, ir::Ref place) {
    const auto begin = bytes_.size();
    std::byte image[ir::kMaxOpImage];
    const auto size = ir::write_image(op, image);
    append({image, size});
    append(std::as_bytes(operands));
    const auto key = text(begin, bytes_.size());
    const auto hash = std::hash<std::string_view>{}(key);
    const auto mask = slots_.size() - 1;
    auto slot = hash & mask;
    for (; slots_[slot] != kNone; slot = (slot + 1) & mask) {
      const auto& known = known_[slots_[slot]];
      if (known.hash != hash || text(known.begin, known.end) != key) continue;
      bytes_.resize(begin);
      return known.place;
    }
    slots_[slot] = static_cast<std::uint32_t>(known_.size());
    known_.push_back({begin, bytes_.size(), hash, place});
    return place;
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);
  static constexpr std::size_t kUsualBytes = 16;  // per node; a function of two operands takes 10
  struct Known {
    std::size_t begin = 0, end = 0;  // of its bytes in bytes_
    std::size_t hash = 0;
    ir::Ref place;
  };

  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::string_view text(std::size_t begin, std::size_t end) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, end - begin};
  }

  std::vector<std::byte> bytes_;
  std::vector<Known> known_;
  std::vector<std::uint32_t> slots_;  // indices in known_, by hash; at most half of the slots are used
};

}  // namespace burn::compile
