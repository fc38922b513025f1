// Ops that the members of a group perform together: each member runs its own program, and all members perform the
// programs' collectives in the same order (kEffect). A run on a session without a group is refused. compile/partition
// inserts them where a value must be whole or split differently. Their shape rules are in the .cc file.
//
// `group` is the number of one of the session's groups, one per axis of its mesh. `sizes` has the size of each member's
// part along `dim`, by rank; sizes may differ and may be 0. `member` is the rank of the member that runs the program.
// Consecutive collectives with the same `bucket` other than 0 may be performed as one.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/axes.h"
#include "ir/ops/op_traits.h"

namespace burn::ir {

// The most members of a group: the sizes of their parts are a Dims attribute.
inline constexpr int kMaxMembers = kMaxRank;

// Combines the operands of all members element by element. Every member gets the same bits. 16-bit floats accumulate in
// f32.
struct AllReduce {
  ReduceFn fn = ReduceFn::sum;
  std::int64_t group = 0;
  std::int64_t bucket = 0;
  static constexpr bool kEffect = true;
  static constexpr std::string_view kName = "all_reduce";
  static constexpr std::string_view kSignature = "[...] -> [...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"fn", &AllReduce::fn}, Attr{"group", &AllReduce::group}, Attr{"bucket", &AllReduce::bucket}};
};

// As AllReduce, but each member gets only its part of the result along `dim`.
struct ReduceScatter {
  ReduceFn fn = ReduceFn::sum;
  std::int64_t dim = 0;
  Dims sizes;
  std::int64_t member = 0;
  std::int64_t group = 0;
  std::int64_t bucket = 0;
  static constexpr bool kEffect = true;
  static constexpr std::string_view kName = "reduce_scatter";
  static constexpr std::string_view kSignature = "[..., n, ...] -> [..., sizes[member], ...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"fn", &ReduceScatter::fn},       Attr{"dim", &ReduceScatter::dim},
                 Attr{"sizes", &ReduceScatter::sizes}, Attr{"member", &ReduceScatter::member},
                 Attr{"group", &ReduceScatter::group}, Attr{"bucket", &ReduceScatter::bucket}};
};

// Concatenates the members' parts along `dim`.
struct AllGather {
  std::int64_t dim = 0;
  Dims sizes;
  std::int64_t member = 0;
  std::int64_t group = 0;
  std::int64_t bucket = 0;
  static constexpr bool kEffect = true;
  static constexpr std::string_view kName = "all_gather";
  static constexpr std::string_view kSignature = "[..., sizes[member], ...] -> [..., n, ...]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"dim", &AllGather::dim}, Attr{"sizes", &AllGather::sizes}, Attr{"member", &AllGather::member},
                 Attr{"group", &AllGather::group}, Attr{"bucket", &AllGather::bucket}};
};

// Converts a value split along `from`, by `from_sizes`, to one split along `to`, by `sizes`. The two may be the same
// dim: then only the bounds of the parts change.
struct AllToAll {
  std::int64_t from = 0;
  Dims from_sizes;
  std::int64_t to = 0;
  Dims sizes;
  std::int64_t member = 0;
  std::int64_t group = 0;
  static constexpr bool kEffect = true;
  static constexpr std::string_view kName = "all_to_all";
  static constexpr std::string_view kSignature =
      "[..., from_sizes[member], ..., n, ...] -> [..., m, ..., sizes[member], ...]";
  static constexpr auto kAttrs = std::tuple{
      Attr{"from", &AllToAll::from},   Attr{"from_sizes", &AllToAll::from_sizes}, Attr{"to", &AllToAll::to},
      Attr{"sizes", &AllToAll::sizes}, Attr{"member", &AllToAll::member},         Attr{"group", &AllToAll::group}};
};

#define BURN_COLLECTIVES_OPS(OP) OP(AllReduce) OP(ReduceScatter) OP(AllGather) OP(AllToAll)

}  // namespace burn::ir
