#include "router/members.h"

#include <future>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace burn::router {
namespace {

std::string random_ticket() {
  std::random_device device;
  std::string ticket(16, '\0');
  for (auto& byte : ticket) byte = static_cast<char>(device());
  return ticket;
}

// What every member answers, or the first that does not in time.
template <typename Answer, typename Ask>
Result<std::vector<Answer>> ask_all(int members, std::chrono::steady_clock::time_point until, const Ask& ask) {
  std::vector<std::shared_ptr<std::promise<Result<Answer>>>> promises;
  for (int member = 0; member < members; ++member) {
    promises.push_back(std::make_shared<std::promise<Result<Answer>>>());
    ask(member, [promise = promises.back()](Result<Answer> answer) { promise->set_value(std::move(answer)); });
  }
  std::vector<Answer> answers;
  for (int member = 0; member < members; ++member) {
    auto future = promises[static_cast<std::size_t>(member)]->get_future();
    if (future.wait_until(until) != std::future_status::ready)
      return Status{StatusCode::deadline_exceeded, fmt::format("member {}: it does not answer", member)};
    auto answer = future.get();
    if (!answer.ok()) return answer.status().with_context(fmt::format("member {}", member));
    answers.push_back(*std::move(answer));
  }
  return answers;
}

struct Opened {};

}  // namespace

Members::Members(std::vector<std::unique_ptr<proto::Session>> sessions, std::vector<std::string> names)
    : sessions_(std::move(sessions)), names_(std::move(names)) {}

Status Members::send(proto::Session& session, MemberCall& call) {
  return std::visit(Overloaded{
                        [&](proto::DefineProgram& define) {
                          return session.define(define.id, std::move(define.program), std::move(define.forget));
                        },
                        [&](proto::Run& run) { return session.run(std::move(run)); },
                        [&](MemberWrite& write) { return session.write(write.id, std::move(write.tensor)); },
                        [&](proto::Release& release) { return session.release(std::move(release.ids)); },
                    },
                    call);
}

void Members::send(std::vector<Outgoing> calls) {
  for (auto& [member, call] : calls) {
    auto& to = session(member);
    if (auto status = send(to, call); !status.ok() && !to.health().ok()) return lose(member, status);
  }
}

proto::GroupPlace Members::place_of(int member) const {
  return {.group = 0,
          .epoch = epoch_,
          .rank = static_cast<std::uint32_t>(member),
          .size = static_cast<std::uint32_t>(count()),
          .ticket = ticket_};
}

Status Members::form_group(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  ticket_ = random_ticket();
  ++epoch_;
  BURN_TRY(addresses_, ask_all<std::string>(count(), until, [&](int member, auto done) {
             session(member).prepare_group(place_of(member), std::move(done));
           }));
  return open_group(timeout, until);
}

Status Members::open_group(std::chrono::milliseconds timeout, std::chrono::steady_clock::time_point until) {
  const auto opened = ask_all<Opened>(count(), until, [&](int member, auto done) {
    session(member).open_group(place_of(member), addresses_, timeout,
                               [done](const Status& status) { status.ok() ? done(Opened{}) : done(status); });
  });
  return opened.status();
}

bool Members::group_stands(std::chrono::milliseconds timeout) {
  return open_group(timeout, std::chrono::steady_clock::now() + timeout).ok();
}

std::vector<Status> Members::settle() {
  std::vector<std::future<Status>> answers;
  for (const auto& session : sessions_) {
    const auto promise = std::make_shared<std::promise<Status>>();
    answers.push_back(promise->get_future());
    session->sync([promise](Status status) { promise->set_value(std::move(status)); });
  }
  std::vector<Status> failures;
  for (auto& answer : answers) {
    if (auto status = answer.get(); !status.ok()) failures.push_back(std::move(status));
  }
  return failures;
}

Status Members::lost() const {
  const std::lock_guard lock{mutex_};
  return lost_;
}

void Members::lose(int member, const Status& why) {
  {
    const std::lock_guard lock{mutex_};
    if (!lost_.ok()) return;
    lost_ = Status{StatusCode::unavailable, fmt::format("worker {} is lost: {}", name(member), why.message())};
  }
  if (epoch_ == 0) return;
  for (int other = 0; other < count(); ++other) {
    if (other != member) session(other).abort_group(0, epoch_, lost());
  }
}

void Members::abandon() {
  for (const auto& session : sessions_) session->close();
}

}  // namespace burn::router
