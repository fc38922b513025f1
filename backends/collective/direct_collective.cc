#include "backends/collective/direct_collective.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "backends/collective/collective_thread.h"
#include "backends/collective/combine.h"
#include "backends/collective/exchange.h"
#include "backends/collective/packed.h"
#include "base/overloaded.h"
#include "ir/attrs.h"

namespace burn::backends {
namespace {

// The index of the first element of each part, and the end of the last one.
std::vector<std::int64_t> bounds_of(const ir::Dims& sizes) {
  std::vector<std::int64_t> bounds{0};
  for (const auto size : sizes) bounds.push_back(bounds.back() + size);
  return bounds;
}

// A hash of what all members must agree on when they perform the same collective: the op except for the rank, and the
// type except for the dim in which parts differ.
std::uint64_t hash_of(ir::Op op, const ir::TensorType& type) {
  std::int64_t uneven = -1;
  std::visit(Overloaded{[&](ir::ReduceScatter& kind) { kind.member = 0; },
                        [&](ir::AllGather& kind) {
                          kind.member = 0;
                          uneven = kind.dim;
                        },
                        [&](ir::AllToAll& kind) {
                          kind.member = 0;
                          uneven = kind.from;
                        },
                        [](auto&) {}},
             op);
  std::array<std::byte, ir::kMaxOpImage> image;
  const auto size = ir::write_image(op, image.data());
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (std::size_t i = 0; i < size; ++i) add(static_cast<std::uint64_t>(image[i]));
  add(static_cast<std::uint64_t>(type.dtype));
  for (int i = 0; i < type.shape.rank(); ++i) add(i == uneven ? 0 : static_cast<std::uint64_t>(type.shape[i]) + 1);
  return hash;
}

class DirectCollective final : public Collective {
 public:
  DirectCollective(std::unique_ptr<Links> links, const DirectLimits& limits)
      : links_(std::move(links)), limits_(limits) {}
  ~DirectCollective() override { links_->leave(member_left(links_->rank())); }

  int rank() const override { return links_->rank(); }
  int size() const override { return links_->size(); }
  void abort(const Status& why) override { links_->abort(why); }
  void leave(const Status& why) override { links_->leave(why); }
  Status health() const override { return links_->health(); }
  CollectiveThread* thread() override { return size() > 1 ? &thread_ : nullptr; }
  std::vector<Status> perform_together(std::span<const CollectiveCall> calls) override {
    return size() == 1 ? Collective::perform_together(calls) : perform_packed(*this, calls, limits_.piece, packed_);
  }

  Status perform(const CollectiveCall& call) override {
    // Learns first whether others have ended the group: their numbers may have arrived all the same, for a collective
    // that has failed on their side.
    BURN_RETURN_IF_ERROR(links_->wait(std::vector<Links::Wanted>(members()), std::chrono::milliseconds{0}));
    auto ended = check_members(call.op);
    if (ended.ok()) {
      failed_.reset();
      ended = perform_checked(call);
    }
    if (!ended.ok()) {
      links_->abort(ended);
      return health();  // the first reason
    }
    if (!failed_) return {};
    return size() == 1 ? failed_->why : of_member(failed_->rank, failed_->why);
  }

 private:
  Status check_members(const ir::Op& op) const {
    const auto check = [&](const ir::Dims& sizes, std::int64_t member) -> Status {
      if (sizes.rank() == size() && member == rank()) return {};
      return failed_precondition(fmt::format("the program is of member {} of {}, the session is member {} of {}",
                                             member, sizes.rank(), rank(), size()));
    };
    return std::visit(
        [&]<typename Kind>(const Kind& kind) -> Status {
          if constexpr (requires {
                          kind.member;
                          kind.sizes;
                        })
            return check(kind.sizes, kind.member);
          else
            return {};
        },
        op);
  }

  Status perform_checked(const CollectiveCall& call) {
    what_ = hash_of(call.op, call.type);
    return std::visit(Overloaded{[&](const ir::AllReduce& op) { return all_reduce(op, call); },
                                 [&](const ir::ReduceScatter& op) { return reduce_scatter(op, call); },
                                 [&](const ir::AllGather& op) { return all_gather(op, call); },
                                 [&](const ir::AllToAll& op) { return all_to_all(op, call); },
                                 [&](const auto&) { return internal_error("this op is no collective"); }},
                      call.op);
  }

  // False: a member has failed, and all members know it.
  Result<bool> exchange_parts(const CollectiveCall& call, std::vector<PeerPart> parts) {
    if (call.failed) {
      for (auto& part : parts) part.to_send.strip.data = part.to_receive.strip.data = nullptr;
    }
    BURN_TRY(auto failed, exchange(*links_, {rounds_++, what_, call.failed, std::move(parts)}));
    failed_ = std::move(failed);
    return !failed_;
  }

  std::size_t members() const { return static_cast<std::size_t>(size()); }
  std::size_t me() const { return static_cast<std::size_t>(rank()); }
  // The operand is sent, not written, though StripRange has a mutable pointer.
  static std::byte* bytes_of(const CollectiveCall& call) { return const_cast<std::byte*>(call.operand.data()); }

  // Memory for `bytes` bytes received from each other member: `member`'s part of it. Grows once.
  std::byte* scratch(std::size_t member, std::size_t bytes) {
    const auto place = member - (member > me() ? 1 : 0);
    scratch_.resize(std::max(scratch_.size(), (members() - 1) * bytes));
    return scratch_.data() + place * bytes;
  }

  // Sends each other member the part that `part_for` returns, and receives `bytes` bytes from each into its scratch
  // memory, which becomes its entry in `sources`.
  Result<bool> exchange_for_sources(const CollectiveCall& call, const auto& part_for, std::size_t bytes,
                                    std::vector<const std::byte*>& sources) {
    std::vector<PeerPart> parts(members());
    for (std::size_t m = 0; m < members(); ++m) {
      if (m == me()) continue;
      auto* const place = scratch(m, bytes);
      sources[m] = place;
      parts[m] = {part_for(m), all_of(whole(place, bytes))};
    }
    return exchange_parts(call, std::move(parts));
  }

  Status all_reduce(const ir::AllReduce& op, const CollectiveCall& call) {
    const auto element = ir::size_of(call.type.dtype);
    const auto total = static_cast<std::size_t>(call.type.num_elements());
    const auto piece = std::max<std::size_t>(limits_.piece / element, 1);
    std::size_t first = 0;
    do {
      const auto count = std::min(piece, total - first);
      BURN_TRY(const bool goes_on, count* element <= limits_.small ? reduce_whole(op, call, first, count)
                                                                   : reduce_in_parts(op, call, first, count));
      if (!goes_on) return {};
      first += count;
    } while (first < total);
    return {};
  }

  // Every member receives the elements of all others, and combines them.
  Result<bool> reduce_whole(const ir::AllReduce& op, const CollectiveCall& call, std::size_t first, std::size_t count) {
    const auto element = ir::size_of(call.type.dtype), bytes = count * element;
    auto* const own = call.failed ? nullptr : bytes_of(call) + first * element;
    std::vector<const std::byte*> sources(members(), own);
    const auto all = [&](std::size_t) { return all_of(whole(own, bytes)); };
    BURN_TRY(const bool goes_on, exchange_for_sources(call, all, bytes, sources));
    if (goes_on) combine_in_order(op.fn, call.type.dtype, sources, call.result.data() + first * element, count);
    return goes_on;
  }

  // Every member combines a part of the elements, and sends the combined part to the others.
  Result<bool> reduce_in_parts(const ir::AllReduce& op, const CollectiveCall& call, std::size_t first,
                               std::size_t count) {
    const auto element = ir::size_of(call.type.dtype);
    const auto bound = [&](std::size_t m) { return first + count * m / members(); };
    const auto part_at = [&](std::byte* data, std::size_t m) {
      const auto bytes = (bound(m + 1) - bound(m)) * element;
      return all_of(whole(data ? data + bound(m) * element : nullptr, bytes));
    };
    const auto own_count = bound(me() + 1) - bound(me());
    auto* const operand = call.failed ? nullptr : bytes_of(call);
    std::vector<const std::byte*> sources(members(), operand ? operand + bound(me()) * element : nullptr);
    const auto operand_of = [&](std::size_t m) { return part_at(operand, m); };
    BURN_TRY(const bool goes_on, exchange_for_sources(call, operand_of, own_count * element, sources));
    if (!goes_on) return false;
    auto* const result = call.result.data();
    combine_in_order(op.fn, call.type.dtype, sources, result + bound(me()) * element, own_count);
    std::vector<PeerPart> combined(members());
    for (std::size_t m = 0; m < members(); ++m) {
      if (m != me()) combined[m] = {part_at(result, me()), part_at(result, m)};
    }
    return exchange_parts(call, std::move(combined));
  }

  Status reduce_scatter(const ir::ReduceScatter& op, const CollectiveCall& call) {
    const auto element = ir::size_of(call.type.dtype);
    const auto bounds = bounds_of(op.sizes);
    auto* const operand = call.failed ? nullptr : bytes_of(call);
    std::vector<Strip> strips;
    std::size_t longest = 0;
    for (std::size_t m = 0; m < members(); ++m) {
      strips.push_back(part_of(call.type, operand, op.dim, bounds[m], op.sizes[static_cast<int>(m)]));
      longest = std::max(longest, strips.back().bytes());
    }
    const auto piece = std::max<std::size_t>(limits_.piece / members() / element, 1) * element;
    std::size_t first = 0;
    do {
      const auto range = [&](std::size_t m) {
        const auto bytes = strips[m].bytes();
        return StripRange{strips[m], std::min(first, bytes), std::min(first + piece, bytes)};
      };
      const auto own = range(me());
      const auto bytes = own.bytes();
      auto* const result = call.failed ? nullptr : call.result.data() + own.begin;
      std::vector<const std::byte*> sources(members(), result);
      BURN_TRY(const bool goes_on, exchange_for_sources(call, range, bytes, sources));
      if (!goes_on) return {};
      copy(own, all_of(whole(result, bytes)));
      combine_in_order(op.fn, call.type.dtype, sources, result, bytes / element);
      first += piece;
    } while (first < longest);
    return {};
  }

  Status all_gather(const ir::AllGather& op, const CollectiveCall& call) {
    const auto bounds = bounds_of(op.sizes);
    auto type = call.type;  // of the result
    type.shape[static_cast<int>(op.dim)] = bounds.back();
    auto* const result = call.failed ? nullptr : call.result.data();
    auto* const operand = call.failed ? nullptr : bytes_of(call);
    const auto own = all_of(whole(operand, call.type.num_bytes()));
    const auto place = [&](std::size_t m) {
      return all_of(part_of(type, result, op.dim, bounds[m], op.sizes[static_cast<int>(m)]));
    };
    std::vector<PeerPart> parts(members());
    for (std::size_t m = 0; m < members(); ++m) parts[m] = {own, place(m)};
    BURN_TRY(const bool goes_on, exchange_parts(call, std::move(parts)));
    if (goes_on) copy(own, place(me()));
    return {};
  }

  // If the op splits one dim and joins another: sends each member the part of this operand that the member needs, and
  // receives its part of the result from each. If both are the same dim: exchanges the elements that the sender has and
  // the receiver needs.
  Status all_to_all(const ir::AllToAll& op, const CollectiveCall& call) {
    const auto from = bounds_of(op.from_sizes), to = bounds_of(op.sizes);
    auto result_type = call.type;
    if (op.from != op.to) result_type.shape[static_cast<int>(op.from)] = from.back();
    result_type.shape[static_cast<int>(op.to)] = op.sizes[rank()];
    auto* const operand = call.failed ? nullptr : bytes_of(call);
    auto* const result = call.failed ? nullptr : call.result.data();
    // What member `giver` has of the elements that member `taker` gets, along the one dim: first and count.
    const auto common = [&](std::size_t giver, std::size_t taker) {
      const auto begin = std::max(from[giver], to[taker]), end = std::min(from[giver + 1], to[taker + 1]);
      return std::pair(begin, std::max<std::int64_t>(end - begin, 0));
    };
    const auto sent_to = [&](std::size_t m) {
      if (op.from != op.to) return all_of(part_of(call.type, operand, op.to, to[m], to[m + 1] - to[m]));
      const auto [begin, count] = common(me(), m);
      return all_of(part_of(call.type, operand, op.to, count > 0 ? begin - from[me()] : 0, count));
    };
    const auto received_from = [&](std::size_t m) {
      if (op.from != op.to) return all_of(part_of(result_type, result, op.from, from[m], from[m + 1] - from[m]));
      const auto [begin, count] = common(m, me());
      return all_of(part_of(result_type, result, op.to, count > 0 ? begin - to[me()] : 0, count));
    };
    std::vector<PeerPart> parts(members());
    for (std::size_t m = 0; m < members(); ++m) parts[m] = {sent_to(m), received_from(m)};
    BURN_TRY(const bool goes_on, exchange_parts(call, std::move(parts)));
    if (goes_on) copy(sent_to(me()), received_from(me()));
    return {};
  }

  const std::unique_ptr<Links> links_;
  const DirectLimits limits_;
  std::uint64_t rounds_ = 0;  // so far
  std::uint64_t what_ = 0;    // hash of the current collective
  std::optional<MemberFailure> failed_;
  std::vector<std::byte> scratch_, packed_;
  CollectiveThread thread_;  // last: joined before the members that its work uses
};

}  // namespace

std::shared_ptr<Collective> make_direct_collective(std::unique_ptr<Links> links, const DirectLimits& limits) {
  return std::make_shared<DirectCollective>(std::move(links), limits);
}

}  // namespace burn::backends
