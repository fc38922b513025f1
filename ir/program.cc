#include "ir/program.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/xxh3.h"
#include "ir/attrs.h"
#include "ir/op_copy.h"
#include "ir/op_image.h"
#include "ir/shape_rules.h"

namespace burn::ir {
namespace {

// Writes one part of the data that a program's hash covers.
class HashedPart {
 public:
  explicit HashedPart(ImageHash& hash) : hash_(hash), end_(hash.begin_part()) {}
  ~HashedPart() { hash_.end_part(end_); }
  HashedPart(const HashedPart&) = delete;
  HashedPart& operator=(const HashedPart&) = delete;

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    std::memcpy(end_, &value, sizeof(T));
    end_ += sizeof(T);
  }
  template <typename Kind>
  void put_op(const Kind& kind) {
    end_ = detail::put_image(end_, kind);
  }
  void put_type(const TensorType& type) {
    put(type.dtype);
    put(static_cast<std::uint8_t>(type.shape.rank()));
    for (const auto size : type.shape) put(size);
  }
  // Writes few refs verbatim and many as their hash; the count says which.
  void put_refs(std::span<const Ref> refs) {
    put(static_cast<std::uint64_t>(refs.size()));
    if (refs.size() <= kInlineRefs) {
      for (const auto ref : refs) put(ref.code());
    } else {
      const auto digest = XXH3_128bits(refs.data(), refs.size_bytes());
      put(digest.low64);
      put(digest.high64);
    }
  }

 private:
  static constexpr std::size_t kInlineRefs = 16;
  // Bytes in addition to an op: a count 8, refs 64, `recompute` 1. An input: a type 66, and 2 more.
  static_assert(ImageHash::kMaxPartBytes >= kMaxOpImage + 8 + 4 * kInlineRefs + 1);

  ImageHash& hash_;
  std::byte* end_;
};

// First bytes of parts other than ops; no op's image starts with them.
enum class Part : std::uint8_t { input = 254, outputs = 255 };
static_assert(std::variant_size_v<Op> <= static_cast<std::size_t>(ImageHash::kDigestMarker));

bool exists(const Program& program, Ref ref) {
  const auto index = static_cast<std::size_t>(ref.index());
  return index < (ref.is_input() ? program.inputs.size() : program.values.size());
}

std::string to_string(Ref ref) { return fmt::format("{}{}", ref.is_input() ? "in" : "%", ref.index()); }

std::string list(std::span<const Ref> refs) {
  const auto texts = refs | std::views::transform([](Ref ref) { return to_string(ref); });
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Cheap, as it is called for every op that a user calls. The multiplier is that of 64-bit Fibonacci hashing.
std::uint64_t with_site(std::uint64_t key, const CallSite& site) {
  const auto at = reinterpret_cast<std::uintptr_t>(site.file) ^ (std::uint64_t{site.line} << 48) ^
                  std::rotl(std::uint64_t{reinterpret_cast<std::uintptr_t>(site.op)}, 24);
  return (std::rotl(key, 5) ^ at) * 0x9E3779B97F4A7C15u;
}

// Blocks of four numbers that an op takes from the random stream: those of the whole value, whichever box it draws.
std::int64_t random_blocks(const Random& op) { return (num_elements(op.whole_shape()) + 3) / 4; }

// Scalar slots and parts of the random stream are used in order, so that those of a decoded program cannot overlap.
// Requires: the op passed its shape rule.
Status take_turn(const Scalar& op, Program& program) {
  if (op.slot != program.scalar_count) {
    return invalid_argument(fmt::format("scalar: slot {} is not the next one, {}", op.slot, program.scalar_count));
  }
  program.scalar_count += 1;
  return {};
}

Status take_turn(const Random& op, Program& program) {
  if (op.offset != program.random_blocks) {
    return invalid_argument(fmt::format("random: offset {} is not the next one, {}", op.offset, program.random_blocks));
  }
  const auto blocks = random_blocks(op);
  if (blocks > ProgramBuilder::kMaxRandomBlocks - program.random_blocks) {
    return resource_exhausted("random: a program may not use more than 2^62 blocks");
  }
  program.random_blocks += blocks;
  return {};
}

}  // namespace

std::string to_string(const CallSite& site) {
  if (!site.file) return {};
  std::string_view file = site.file;
  file.remove_prefix(file.find_last_of("/\\") + 1);  // npos + 1 is 0
  return fmt::format("{}:{}", file, site.line);
}

std::string to_string(const ProgramHash& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

std::size_t memory_bytes(const Program& program) {
  return sizeof program + program.inputs.capacity() * sizeof(Input) + program.nodes.capacity() * sizeof(Node) +
         program.values.capacity() * sizeof(NodeResult) +
         (program.operands.capacity() + program.outputs.capacity()) * sizeof(Ref);
}

std::string to_string(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const auto& [type, donated] = program.inputs[i];
    text += fmt::format("in{} : {}{}\n", i, to_string(type), donated ? "  donated" : "");
  }
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const auto& node = program.nodes[i];
    const auto operands = program.operands_of(node);
    std::string results, types;
    for (std::size_t v = node.first_value; v < node.first_value + node.value_count; ++v) {
      const auto separator = results.empty() ? "" : ", ";
      results += fmt::format("{}%{}", separator, v);
      types += fmt::format("{}{}", separator, to_string(program.values[v].type));
    }
    text += fmt::format("{} = {}{}{}{} : {}", results, node.recompute ? "again " : "", to_string(node.op),
                        operands.empty() ? "" : " ", list(operands), types);
    text += node.site.file ? fmt::format("  ; {}\n", to_string(node.site)) : "\n";
  }
  return text + fmt::format("outputs {}\n", list(program.outputs));
}

bool same(const Program& a, const Program& b) {
  const auto same_input = [](const Input& x, const Input& y) { return x.type == y.type && x.donated == y.donated; };
  const auto same_node = [](const Node& x, const Node& y) {
    if (x.operand_count != y.operand_count || x.recompute != y.recompute) return false;
    std::byte image_x[kMaxOpImage], image_y[kMaxOpImage];
    const auto size = write_image(x.op, image_x);
    return size == write_image(y.op, image_y) && std::memcmp(image_x, image_y, size) == 0;
  };
  const auto same_value = [](const NodeResult& x, const NodeResult& y) { return x.type == y.type && x.node == y.node; };
  return a.hash == b.hash && std::ranges::equal(a.values, b.values, same_value) &&
         std::ranges::equal(a.inputs, b.inputs, same_input) && std::ranges::equal(a.nodes, b.nodes, same_node) &&
         a.operands == b.operands && a.outputs == b.outputs;
}

Ref ProgramBuilder::add_input(const TensorType& type) {
  program_.inputs.push_back({type});
  return Ref::input(static_cast<std::int32_t>(program_.inputs.size() - 1));
}

Result<Ref> ProgramBuilder::add(const Op& op, std::span<const Ref> operands, CallSite site, bool recompute) {
  if (program_.nodes.size() >= kMaxNodes) [[unlikely]] {
    return resource_exhausted(fmt::format("a program may not have more than {} nodes", kMaxNodes));
  }
  if (operands.size() > kMaxOperands - program_.operands.size()) [[unlikely]] {
    return resource_exhausted(fmt::format("a program may not have more than {} operands", kMaxOperands));
  }
  constexpr std::size_t kFew = 8;
  std::array<const TensorType*, kFew> few;
  std::vector<const TensorType*> many(operands.size() > kFew ? operands.size() : 0);
  const auto types = many.empty() ? std::span{few}.first(operands.size()) : std::span{many};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!exists(program_, operands[i])) [[unlikely]] {
      return invalid_argument(fmt::format("{}: there is no operand {}", name(op), to_string(operands[i])));
    }
    types[i] = &program_.type_of(operands[i]);
  }
  // Visits the variant only once, as this is called for every op that a user calls.
  return std::visit([&](const auto& kind) { return append(kind, types, operands, site, recompute); }, op);
}

template <typename Kind>
Result<Ref> ProgramBuilder::append(const Kind& kind, std::span<const TensorType* const> types,
                                   std::span<const Ref> operands, CallSite site, bool recompute) {
  const auto inferred = shape_rules::infer(kind, types);
  if (!inferred.ok()) [[unlikely]]
    return inferred.status();
  if constexpr (std::is_same_v<Kind, Scalar> || std::is_same_v<Kind, Random>)
    BURN_RETURN_IF_ERROR(take_turn(kind, program_));

  // The results' types are not hashed: they follow from the ops and the inputs, whose types seal() adds.
  {
    HashedPart part{hash_};
    part.put_op(kind);
    part.put_refs(operands);
    part.put(static_cast<std::uint8_t>(recompute));
  }

  program_.site_key = with_site(program_.site_key, site);
  constexpr bool kEffect = has_effect<Kind>();
  if constexpr (kEffect && !std::is_same_v<Kind, Commit>) ++program_.effect_count;
  const auto node = static_cast<std::int32_t>(program_.nodes.size());
  const auto first = static_cast<std::uint32_t>(program_.values.size());
  program_.nodes.emplace_back(KindCopy<Kind>{kind}, static_cast<std::uint32_t>(program_.operands.size()),
                              static_cast<std::uint32_t>(operands.size()), first,
                              static_cast<std::uint32_t>(result_count<Kind>()), recompute, kEffect, site);
  for (const auto ref : operands) program_.operands.push_back(ref);
  if constexpr (result_count<Kind>() == 1)
    program_.values.emplace_back(*inferred, node);
  else
    for (const auto& type : *inferred) program_.values.emplace_back(type, node);
  return Ref::value(static_cast<std::int32_t>(first));
}

Ref ProgramBuilder::add_scalar(DType dtype) {
  const auto ref = add(Scalar{dtype, program_.scalar_count}, {});
  BURN_CHECK(ref.ok(), "a full program takes no scalar");
  return *ref;
}

Result<Ref> ProgramBuilder::add_random(Random op, CallSite site) {
  op.offset = program_.random_blocks;
  return add(op, {}, site);
}

Status ProgramBuilder::check_outputs(std::span<const Ref> outputs) const {
  std::vector<bool> seen(program_.values.size());
  for (const auto ref : outputs) {
    if (ref.is_input() || !exists(program_, ref)) {
      return invalid_argument(fmt::format("output {} is no result of a node of the program", to_string(ref)));
    }
    const auto index = static_cast<std::size_t>(ref.index());
    if (seen[index]) return invalid_argument(fmt::format("output {} appears twice", to_string(ref)));
    seen[index] = true;
  }
  return {};
}

Program ProgramBuilder::finish(std::vector<Ref> outputs) {
  seal(std::move(outputs));
  return take();
}

void ProgramBuilder::seal(std::vector<Ref> outputs) {
  program_.outputs = std::move(outputs);
  for (const auto& input : program_.inputs) {
    HashedPart part{hash_};
    part.put(Part::input);
    part.put_type(input.type);
    part.put(static_cast<std::uint8_t>(input.donated));
  }
  {
    HashedPart part{hash_};
    part.put(Part::outputs);
    part.put_refs(program_.outputs);
  }
  const auto [low, high] = hash_.take();
  program_.hash = {low, high};
}

void ProgramBuilder::clear() {
  hash_.clear();
  program_.inputs.clear();
  program_.nodes.clear();
  program_.values.clear();
  program_.operands.clear();
  program_.outputs.clear();
  program_.scalar_count = 0;
  program_.random_blocks = 0;
  program_.effect_count = 0;
  program_.hash = {};
  program_.site_key = 0;
}

Program ProgramBuilder::take() {
  hash_.clear();
  Program done = std::exchange(program_, {});
  // The next program is most likely the next step of the same training, of the same size.
  program_.inputs.reserve(done.inputs.size());
  program_.nodes.reserve(done.nodes.size());
  program_.values.reserve(done.values.size());
  program_.operands.reserve(done.operands.size());
  return done;
}

}  // namespace burn::ir
