// Ops that the members of a group perform together: each member of a fleet runs a program of its own, and where these
// have a collective, all of them take part in it, in the same order (kEffect). A run on a session without a group
// refuses them. They are put into programs by compile/partition, where a value has to be whole, or split otherwise.
// Their shape rules are in the .cc file.
//
// `group` says which group of the session takes part: one per axis of its mesh. `sizes` has the size of each member's
// part along `dim`, by rank, which may differ and may be 0; `member` is the rank of the member that runs the program.
// Collectives that follow each other with the same `bucket`, other than 0, may be performed as one.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "ir/ops/axes.h"
#include "ir/ops/op_traits.h"

namespace burn::ir {

// Members that a group has at most: the sizes of their parts are an attribute.
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

// As AllReduce, of which each member gets its part along `dim`.
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

// The members' parts behind each other along `dim`.
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

// A value that is split along `from`, by `from_sizes`, becomes one that is split along `to`, by `sizes`. The two may be
// the same dim: then only the bounds move.
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
