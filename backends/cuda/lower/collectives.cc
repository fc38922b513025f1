// Collectives by NCCL. Parts that are not contiguous in memory are packed before a call and unpacked after it.
#include <algorithm>
#include <numeric>

#include "backends/cuda/lower/group_call.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/nccl_numbers.h"

namespace burn::backends::cuda {
namespace {

// --- memory ----------------------------------------------------------------------------------------------------------

void* pointer(const Bindings& at, const Address& address) {
  return reinterpret_cast<void*>(at.at(address));  // NOLINT: the driver's are numbers
}
Address offset_by(Address address, std::int64_t bytes) {
  address.offset += bytes;
  return address;
}

// The sizes of the members' parts along a dim.
class Parts {
 public:
  explicit Parts(const ir::Dims& sizes) : sizes_(sizes) {}

  int count() const { return sizes_.rank(); }
  std::int64_t size(int rank) const { return sizes_[rank]; }
  std::int64_t begin(int rank) const { return std::accumulate(sizes_.begin(), sizes_.begin() + rank, std::int64_t{0}); }
  std::int64_t end(int rank) const { return begin(rank) + size(rank); }
  bool are_equal() const {
    return std::all_of(sizes_.begin(), sizes_.end(), [&](auto n) { return n == sizes_[0]; });
  }

 private:
  ir::Dims sizes_;
};

// The elements [begin, begin + size) along a dim.
View part_of(View whole, std::int64_t dim, std::int64_t begin, std::int64_t size) {
  const auto d = static_cast<int>(dim);
  whole.address.offset += begin * whole.strides[d] * static_cast<std::int64_t>(ir::size_of(whole.dtype));
  whole.shape[d] = size;
  return whole;
}
std::int64_t bytes_of(const View& view) {
  return view.num_elements() * static_cast<std::int64_t>(ir::size_of(view.dtype));
}

// Whether the parts along the dim are contiguous in a row-major tensor, one after the other.
bool are_contiguous_parts(const ir::Shape& shape, std::int64_t dim) {
  for (int d = 0; d < static_cast<int>(dim); ++d) {
    if (shape[d] != 1) return false;
  }
  return true;
}

// A member's part of `whole` along `dim`, in scratch memory that has the parts one after the other.
View packed(const View& whole, std::int64_t dim, const Parts& parts, int rank, const Address& memory) {
  auto part = part_of(whole, dim, 0, parts.size(rank));
  const auto of_one =
      whole.shape[static_cast<int>(dim)] == 0 ? 0 : bytes_of(whole) / whole.shape[static_cast<int>(dim)];
  part.address = offset_by(memory, parts.begin(rank) * of_one);
  part.strides = ir::contiguous_strides(part.shape);
  return part;
}

// --- calls -----------------------------------------------------------------------------------------------------------

// Makes calls that NCCL performs as one group. Returns the first failure.
template <typename Body>
NcclResult call_as_group(const Nccl& nccl, const Body& body) {
  const auto is_well = [](NcclResult result) {
    return result == NcclResult::success || result == NcclResult::in_progress;
  };
  auto first = nccl.group_start();
  body([&](NcclResult result) { first = is_well(first) ? result : first; });
  const auto ended = nccl.group_end();
  return is_well(first) ? ended : first;
}

// Data sent to or received from another member.
struct Message {
  int peer = 0;
  Address at;
  std::int64_t bytes = 0;
};

// Empty messages are empty on both sides, and are not sent.
void emit_messages(Emitter& emit, std::int64_t group, const char* name, std::vector<Message> sent,
                   std::vector<Message> received) {
  const auto is_empty = [](const Message& message) { return message.bytes == 0; };
  std::erase_if(sent, is_empty);
  std::erase_if(received, is_empty);
  if (sent.empty() && received.empty()) return;
  emit.call(GroupCall{
      group, name, [=](const Nccl& nccl, NcclComm comm, const Bindings& at, CUstream stream) {
        return call_as_group(nccl, [&](const auto& add) {
          for (const auto& [peer, where, bytes] : sent)
            add(nccl.send(pointer(at, where), static_cast<std::size_t>(bytes), NcclType::u8, peer, comm, stream));
          for (const auto& [peer, where, bytes] : received)
            add(nccl.receive(pointer(at, where), static_cast<std::size_t>(bytes), NcclType::u8, peer, comm, stream));
        });
      }});
}

// Gathers the parts of all members at `to`, one after the other; `of_one`: bytes per element along the dim.
void emit_gather(Emitter& emit, const ir::AllGather& op, const Address& own, const Address& to, std::int64_t of_one) {
  const Parts parts(op.sizes);
  emit.call(
      GroupCall{op.group, "all_gather", [=](const Nccl& nccl, NcclComm comm, const Bindings& at, CUstream stream) {
                  const auto bytes = [&](int rank) { return static_cast<std::size_t>(parts.size(rank) * of_one); };
                  if (parts.are_equal())
                    return nccl.all_gather(pointer(at, own), pointer(at, to), bytes(0), NcclType::u8, comm, stream);
                  return call_as_group(nccl, [&](const auto& add) {
                    for (int rank = 0; rank < parts.count(); ++rank) {
                      if (bytes(rank) == 0) continue;
                      add(nccl.broadcast(pointer(at, own), pointer(at, offset_by(to, parts.begin(rank) * of_one)),
                                         bytes(rank), NcclType::u8, rank, comm, stream));
                    }
                  });
                }});
}

// Reduces and scatters numbers; `of_one`: numbers per element along the dim.
void emit_scatter(Emitter& emit, const ir::ReduceScatter& op, const NcclNumbers& as, const Address& from,
                  const Address& to, std::int64_t of_one) {
  const Parts parts(op.sizes);
  const auto type = as.type;
  const auto number = static_cast<std::int64_t>(as.bytes);
  const auto fn = function_of(op.fn);
  emit.call(
      GroupCall{op.group, "reduce_scatter", [=](const Nccl& nccl, NcclComm comm, const Bindings& at, CUstream stream) {
                  const auto count = [&](int rank) { return static_cast<std::size_t>(parts.size(rank) * of_one); };
                  if (parts.are_equal())
                    return nccl.reduce_scatter(pointer(at, from), pointer(at, to), count(0), type, fn, comm, stream);
                  return call_as_group(nccl, [&](const auto& add) {
                    for (int rank = 0; rank < parts.count(); ++rank) {
                      if (count(rank) == 0) continue;
                      const auto part = offset_by(from, parts.begin(rank) * of_one * number);
                      add(nccl.reduce(pointer(at, part), pointer(at, to), count(rank), type, fn, rank, comm, stream));
                    }
                  });
                }});
}

}  // namespace

void lower_all_reduces(Emitter& emit, std::span<const NodeInPlan> nodes) {
  struct Part {
    Address from, to;
    std::size_t count = 0;
    View result;
  };
  const auto& op = std::get<ir::AllReduce>(nodes[0].node.op);
  const auto as = nccl_numbers(op.fn, emit.type_of(nodes[0].operand(0)).dtype);
  std::vector<Part> parts;
  for (const auto& at : nodes) {
    emit.lie_where(at.operand(0), at.result());
    const View x = emit.contiguous(emit.read(at.operand(0))), y = emit.result(at.result());
    const auto count = y.num_elements();
    if (count == 0) continue;
    const auto from = to_nccl_numbers(emit, as, x.dtype, x.address, count);
    parts.push_back({from, as.wide ? from : y.address, static_cast<std::size_t>(count), y});
  }
  if (parts.empty()) return;
  emit.call(GroupCall{op.group, "all_reduce",
                      [parts, type = as.type, fn = function_of(op.fn)](const Nccl& nccl, NcclComm comm,
                                                                       const Bindings& at, CUstream stream) {
                        const auto reduce = [&](const Part& part) {
                          return nccl.all_reduce(pointer(at, part.from), pointer(at, part.to), part.count, type, fn,
                                                 comm, stream);
                        };
                        if (parts.size() == 1) return reduce(parts[0]);
                        return call_as_group(nccl, [&](const auto& add) {
                          for (const auto& part : parts) add(reduce(part));
                        });
                      }});
  for (const auto& part : parts) from_nccl_numbers(emit, as, part.to, part.result);
}

namespace lowering {

Status lower(Emitter& emit, const ir::AllReduce& /*op*/, const NodeInPlan& at) {
  lower_all_reduces(emit, {&at, 1});
  return {};
}

Status lower(Emitter& emit, const ir::ReduceScatter& op, const NodeInPlan& at) {
  View x = emit.read(at.operand(0));
  const View y = emit.result(at.result());
  if (x.num_elements() == 0) return {};
  const Parts parts(op.sizes);
  if (are_contiguous_parts(x.shape, op.dim)) {
    x = emit.contiguous(x);
  } else {
    const auto memory = emit.scratch(static_cast<std::size_t>(bytes_of(x)));
    for (int rank = 0; rank < parts.count(); ++rank)
      emit.copy(part_of(x, op.dim, parts.begin(rank), parts.size(rank)), packed(x, op.dim, parts, rank, memory));
    x.address = memory;
  }
  const auto as = nccl_numbers(op.fn, x.dtype);
  const auto from = to_nccl_numbers(emit, as, x.dtype, x.address, x.num_elements());
  const auto own = std::max<std::int64_t>(y.num_elements(), 1);
  const auto to = as.wide ? emit.scratch(as.bytes * static_cast<std::size_t>(own)) : y.address;
  emit_scatter(emit, op, as, from, to, x.num_elements() / x.shape[static_cast<int>(op.dim)]);
  if (y.num_elements() > 0) from_nccl_numbers(emit, as, to, y);
  return {};
}

Status lower(Emitter& emit, const ir::AllGather& op, const NodeInPlan& at) {
  const View x = emit.contiguous(emit.read(at.operand(0))), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const Parts parts(op.sizes);
  const auto of_one = bytes_of(y) / y.shape[static_cast<int>(op.dim)];
  if (are_contiguous_parts(y.shape, op.dim)) {
    emit_gather(emit, op, x.address, y.address, of_one);
    return {};
  }
  const auto memory = emit.scratch(static_cast<std::size_t>(bytes_of(y)));
  emit_gather(emit, op, x.address, memory, of_one);
  for (int rank = 0; rank < parts.count(); ++rank)
    emit.copy(packed(y, op.dim, parts, rank, memory), part_of(y, op.dim, parts.begin(rank), parts.size(rank)));
  return {};
}

// If the op splits one dim and joins another: sends each member the part of this operand that the member needs, and
// receives its part of the result from each. If both are the same dim: exchanges the elements that the sender has and
// the receiver needs.
Status lower(Emitter& emit, const ir::AllToAll& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  const Parts from(op.from_sizes), to(op.sizes);
  const auto me = static_cast<int>(op.member);
  const auto common = [&](int giver, int taker, std::int64_t first) {
    const auto begin = std::max(from.begin(giver), to.begin(taker)), end = std::min(from.end(giver), to.end(taker));
    return std::pair(begin < end ? begin - first : 0, std::max<std::int64_t>(end - begin, 0));
  };
  const auto part_for = [&](int taker) {
    if (op.from != op.to) return part_of(x, op.to, to.begin(taker), to.size(taker));
    const auto [begin, size] = common(me, taker, from.begin(me));
    return part_of(x, op.to, begin, size);
  };
  const auto part_by = [&](int giver) {
    if (op.from != op.to) return part_of(y, op.from, from.begin(giver), from.size(giver));
    const auto [begin, size] = common(giver, me, to.begin(me));
    return part_of(y, op.to, begin, size);
  };
  std::vector<Message> sent, received;
  std::vector<std::pair<View, View>> apart;  // received parts, and the views to copy them to
  for (int rank = 0; rank < from.count(); ++rank) {
    if (rank == me) continue;
    if (const auto part = part_for(rank); part.num_elements() > 0)
      sent.push_back({rank, emit.contiguous(part).address, bytes_of(part)});
    const auto part = part_by(rank);
    if (part.num_elements() == 0) continue;
    const auto whole = part.is_contiguous() ? part : emit.scratch_value({part.dtype, part.shape});
    if (!part.is_contiguous()) apart.emplace_back(whole, part);
    received.push_back({rank, whole.address, bytes_of(part)});
  }
  if (const auto own = part_for(me); own.num_elements() > 0) emit.copy(own, part_by(me));
  emit_messages(emit, op.group, "all_to_all", std::move(sent), std::move(received));
  for (const auto& [whole, part] : apart) emit.copy(whole, part);
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
