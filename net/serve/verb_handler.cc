#include "net/serve/verb_handler.h"

#include <utility>

#include "proto/verbs.h"

namespace burn::net {

VerbHandler::VerbHandler(proto::ServedSession& session, Answers& answers, std::function<void(const Status&)> fail)
    : session_(session),
      answers_(answers),
      fail_(std::move(fail)),
      max_downloads_(session.info().max_in_flight),
      receiver_(proto::kInitialCredit) {}

// One overload for each verb that a client sends to a session. A call of the session fails only when the session is
// closed; the connection is then closed, too.
struct VerbHandler::OfFrame {
  VerbHandler& self;
  proto::Frame& frame;
  proto::ServedSession& session = self.session_;

  Status operator()(proto::DefineProgram& define) const {
    if (!define.program) return session.define_encoded(define.id, std::move(define.encoded), std::move(define.forget));
    return session.define(define.id, std::move(define.program), std::move(define.forget));
  }

  Status operator()(proto::RunProgram& run) const { return session.run(std::move(run.run)); }

  Status operator()(proto::Write& write) const {
    const auto bytes = write.type.num_bytes();
    if (frame.payload.size() == bytes)
      return session.write(write.id, {write.type, std::move(frame.payload)}, write.options);
    // If the session refuses the tensor, only that tensor fails; its chunks arrive all the same.
    auto upload = session.begin_upload(write.id, write.type, write.options);
    return self.receiver_.announce(write.id, bytes, upload.ok() ? *std::move(upload) : nullptr);
  }

  Status operator()(proto::Chunk& chunk) const {
    BURN_RETURN_IF_ERROR(self.receiver_.receive(chunk, frame.payload));
    return self.grant();
  }

  Status operator()(proto::Read& read) const {
    if (self.answers_.downloads() > self.max_downloads_)
      return resource_exhausted("the client does not take what it asked for");
    BURN_RETURN_IF_ERROR(self.answers_.confirm(read.answers));
    ++self.unanswered_;
    session.read(read.id, [&self = self, request = read.request](auto tensor) {
      self.answer(request, std::move(tensor));
      --self.unanswered_;
    });
    return {};
  }

  Status operator()(proto::Release& release) const { return session.release(std::move(release.ids)); }

  Status operator()(proto::Sync& sync) const {
    BURN_RETURN_IF_ERROR(self.answers_.confirm(sync.answers));
    ++self.unanswered_;
    session.sync([&self = self, request = sync.request](Status status) {
      self.check(self.answers_.answer(proto::Done{request, std::move(status)}));
      --self.unanswered_;
    });
    return {};
  }

  // Sent by tell(), not answer(): a client that resumes asks again.
  Status operator()(proto::Stats& stats) const {
    ++self.unanswered_;
    session.stats([&self = self, request = stats.request](Result<proto::SessionStats> stats) {
      self.check(
          self.answers_.tell(proto::StatsReport{request, stats.status(), stats.ok() ? *stats : proto::SessionStats{}}));
      --self.unanswered_;
    });
    return {};
  }

  // Groups, also sent by tell().
  Status operator()(proto::PrepareGroup& ask) const {
    ++self.unanswered_;
    session.prepare_group(ask.place, [&self = self, request = ask.request](const Result<std::string>& address) {
      self.check(
          self.answers_.tell(proto::GroupAddress{request, address.status(), address.ok() ? *address : std::string{}}));
      --self.unanswered_;
    });
    return {};
  }

  Status operator()(proto::OpenGroup& ask) const {
    ++self.unanswered_;
    session.open_group(ask.place, std::move(ask.addresses), ask.deadline,
                       [&self = self, request = ask.request](const Status& status) {
                         self.check(self.answers_.tell(proto::GroupDone{request, status}));
                         --self.unanswered_;
                       });
    return {};
  }

  Status operator()(proto::AbortGroup& ask) const {
    session.abort_group(ask.group, ask.epoch, ask.why);
    return self.answers_.tell(proto::GroupDone{ask.request, {}});
  }

  Status operator()(proto::TakeNotices& /*ask*/) const {
    self.takes_notices_ = true;
    return self.tell_end();
  }

  Status operator()(proto::Credit& credit) const { return self.answers_.on_credit(credit); }

  // Verbs that only a server sends, a second Hello, and Close, which the connection handles.
  template <typename Other>
  Status operator()(Other& /*other*/) const {
    constexpr const auto& kVerb = proto::kVerbOf<Other>;
    static_assert(!kVerb.is_from_client() || kVerb.turn == proto::Turn::connection,
                  "what a client sends to a session has a handler here");
    return invalid_argument("a client may not send this now");
  }
};

Status VerbHandler::handle(proto::Frame& frame) {
  auto body = std::move(frame.body);
  return std::visit(OfFrame{*this, frame}, body);
}

Status VerbHandler::grant() {
  const auto bytes = receiver_.take_grant(session_.upload_backlog());
  return bytes > 0 ? answers_.tell(proto::Credit{bytes}) : Status{};
}

void VerbHandler::answer(std::uint64_t request, Result<proto::HostTensor> tensor) {
  if (!tensor.ok()) return check(answers_.answer(proto::Done{request, tensor.status()}));
  check(answers_.answer(proto::Data{request, tensor->type}, std::move(tensor->bytes)));
}

void VerbHandler::announce_end(std::chrono::steady_clock::time_point end) {
  {
    const std::lock_guard lock{ending_};
    announced_end_ = end;
  }
  if (takes_notices_) check(tell_end());
}

Status VerbHandler::tell_end() {
  std::optional<std::chrono::steady_clock::time_point> end;
  {
    const std::lock_guard lock{ending_};
    end = announced_end_;
  }
  if (!end) return {};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - std::chrono::steady_clock::now());
  return answers_.tell(proto::Notice{proto::Notice::Kind::draining, left});
}

}  // namespace burn::net
