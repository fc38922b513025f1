#include "proto/group_forming.h"

#include <future>
#include <memory>
#include <random>
#include <utility>

namespace burn::proto {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

std::string random_ticket() {
  std::random_device source;
  std::string ticket(kTicketBytes, '\0');
  for (auto& byte : ticket) byte = static_cast<char>(source());
  return ticket;
}

GroupPlace place_of(const FormedGroup& group, std::size_t rank, std::size_t size) {
  return {.group = group.group,
          .epoch = group.epoch,
          .rank = static_cast<std::uint32_t>(rank),
          .size = static_cast<std::uint32_t>(size),
          .ticket = group.ticket};
}

// Calls ask(rank, done) for each member, then take(answer) for each answer, in order of rank, until one fails.
template <typename Answer, typename Ask, typename Take>
MemberFailure ask_all(std::size_t members, TimePoint until, const Ask& ask, const Take& take) {
  std::vector<std::future<Answer>> answers;
  for (std::size_t rank = 0; rank < members; ++rank) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    answers.push_back(promise->get_future());
    ask(rank, [promise](Answer answer) { promise->set_value(std::move(answer)); });
  }
  for (std::size_t rank = 0; rank < members; ++rank) {
    if (answers[rank].wait_until(until) != std::future_status::ready)
      return {rank, {StatusCode::deadline_exceeded, "it does not answer"}};
    if (auto why = take(answers[rank].get()); !why.ok()) return {rank, std::move(why)};
  }
  return {};
}

MemberFailure open(std::span<Session* const> members, const FormedGroup& group, std::chrono::milliseconds timeout,
                   TimePoint until) {
  return ask_all<Status>(
      members.size(), until,
      [&](std::size_t rank, auto done) {
        members[rank]->open_group(place_of(group, rank, members.size()), group.addresses, timeout, std::move(done));
      },
      [](Status answer) { return answer; });
}

}  // namespace

MemberFailure form_group(std::span<Session* const> members, FormedGroup& group, std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  group.ticket = random_ticket();
  group.addresses.clear();
  auto failure = ask_all<Result<std::string>>(
      members.size(), until,
      [&](std::size_t rank, auto done) {
        members[rank]->prepare_group(place_of(group, rank, members.size()), std::move(done));
      },
      [&](Result<std::string> address) -> Status {
        BURN_RETURN_IF_ERROR(address.status());
        group.addresses.push_back(*std::move(address));
        return {};
      });
  return failure.why.ok() ? open(members, group, timeout, until) : failure;
}

MemberFailure check_group(std::span<Session* const> members, const FormedGroup& group,
                          std::chrono::milliseconds timeout) {
  return open(members, group, timeout, std::chrono::steady_clock::now() + timeout);
}

}  // namespace burn::proto
