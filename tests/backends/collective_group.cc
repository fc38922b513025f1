#include "tests/backends/collective_group.h"

#include <array>
#include <future>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "ir/shape_rules.h"

namespace burn::testing {
namespace {

using backends::Rendezvous;

std::vector<std::unique_ptr<backends::Links>> socket_links(int size) {
  const std::string ticket = "0123456789abcdef";
  std::vector<std::unique_ptr<Rendezvous>> rendezvous;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < size; ++rank) {
    rendezvous.push_back(value_or_throw(Rendezvous::listen("127.0.0.1", ticket, rank, size)));
    addresses.push_back(rendezvous.back()->address());
  }
  std::vector<std::unique_ptr<backends::Links>> links(static_cast<std::size_t>(size));
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  TestGroup::on_threads(ranks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    links[r] = value_or_throw(rendezvous[r]->meet(addresses, std::chrono::seconds{20}));
  });
  return links;
}

}  // namespace

TestGroup::TestGroup(LinkKind kind, int size, const backends::DirectLimits& limits) {
  std::vector<std::unique_ptr<backends::Links>> links;
  if (kind == LinkKind::sockets) {
    links = socket_links(size);
  } else {
    simulated_ = std::make_unique<SimulatedGroup>(size);
    for (int rank = 0; rank < size; ++rank) links.push_back(simulated_->links(rank));
  }
  for (auto& end : links) members_.push_back(backends::make_direct_collective(std::move(end), limits));
}

void TestGroup::on_threads(const std::vector<int>& ranks, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (const int rank : ranks) threads.emplace_back([&body, rank] { body(rank); });
  for (auto& thread : threads) thread.join();
}

std::vector<int> TestGroup::ranks() const {
  std::vector<int> all(members_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Result<reference::Tensor> perform(backends::Collective& member, const ir::Op& op, const reference::Tensor& x) {
  const std::array<const ir::TensorType*, 1> operands{&x.type};
  BURN_TRY(const auto types, ir::infer(op, operands));
  const auto bytes = reference::to_bytes(x);
  std::vector<std::byte> result(types[0].num_bytes());
  BURN_RETURN_IF_ERROR(member.perform({op, x.type, bytes, result}));
  return reference::from_bytes(types[0], result);
}

Status take_part(backends::Collective& member, const ir::Op& op, const ir::TensorType& type, const Status& why) {
  return member.perform({op, type, {}, {}, std::make_shared<const Status>(why)});
}

}  // namespace burn::testing
