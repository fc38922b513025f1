// A coordinator for tests: forms groups of sessions of any kind, and calls each of them.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "proto/session.h"

namespace burn::test {

inline Result<std::string> prepare(proto::Session& session, const proto::GroupPlace& place) {
  std::promise<Result<std::string>> answer;
  session.prepare_group(place, [&](Result<std::string> address) { answer.set_value(std::move(address)); });
  return answer.get_future().get();
}

inline std::future<Status> open(proto::Session& session, const proto::GroupPlace& place,
                                std::vector<std::string> addresses,
                                std::chrono::milliseconds deadline = std::chrono::seconds{20}) {
  const auto answer = std::make_shared<std::promise<Status>>();
  session.open_group(place, std::move(addresses), deadline,
                     [answer](Status status) { answer->set_value(std::move(status)); });
  return answer->get_future();
}

inline std::future<Result<proto::HostTensor>> read(proto::Session& session, proto::TensorId id) {
  const auto answer = std::make_shared<std::promise<Result<proto::HostTensor>>>();
  session.read(id, [answer](Result<proto::HostTensor> tensor) { answer->set_value(std::move(tensor)); });
  return answer->get_future();
}

class GroupMembers {
 public:
  explicit GroupMembers(std::vector<std::unique_ptr<proto::Session>> sessions) : sessions_(std::move(sessions)) {}

  proto::Session& operator[](std::size_t rank) { return *sessions_[rank]; }
  std::size_t size() const { return sessions_.size(); }
  proto::GroupPlace place(std::size_t rank, std::uint32_t group = 0, std::uint64_t epoch = 1) const {
    return {group, epoch, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size()), "0123456789abcdef"};
  }
  // The first failure of a member, if there is one.
  Status form(std::uint32_t group = 0, std::uint64_t epoch = 1) {
    std::vector<std::string> addresses;
    for (std::size_t rank = 0; rank < size(); ++rank) {
      BURN_TRY(auto address, prepare(*sessions_[rank], place(rank, group, epoch)));
      addresses.push_back(std::move(address));
    }
    std::vector<std::future<Status>> opened;
    for (std::size_t rank = 0; rank < size(); ++rank)
      opened.push_back(open(*sessions_[rank], place(rank, group, epoch), addresses));
    Status first;
    for (auto& status : opened) {
      auto one = status.get();
      if (first.ok()) first = std::move(one);
    }
    return first;
  }

 private:
  std::vector<std::unique_ptr<proto::Session>> sessions_;
};

}  // namespace burn::test
