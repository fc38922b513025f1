// The programs of all members while they are written, node by node, member by member.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/program.h"

namespace burn::compile::partition {

// Members whose programs are the same have one: as long as a member adds what the first one has added, in its order, no
// node is made for it. The first thing that differs gives it a program of its own, with all that it has added so far.
class MemberPrograms {
 public:
  explicit MemberPrograms(int members) : members_(static_cast<std::size_t>(members)) {}

  // As those of ProgramBuilder, of one member. What the first member adds comes before what others add in the same
  // place.
  ir::Ref add_input(int member, const ir::TensorType& type, bool donated);
  Result<ir::Ref> add(int member, const ir::Op& op, std::span<const ir::Ref> operands, ir::CallSite site,
                      bool recompute);
  const ir::TensorType& type_of(int member, ir::Ref ref) const { return builder_of(member).type_of(ref); }
  bool is_first_or_own(int member) const { return member == 0 || at(member).is_own; }

  // `outputs`: by member. Once.
  std::vector<std::shared_ptr<const ir::Program>> finish(std::vector<std::vector<ir::Ref>> outputs,
                                                         const std::shared_ptr<const void>& site_files);

 private:
  struct Member {
    ir::ProgramBuilder builder;         // of the first, and of those that have a program of their own
    bool is_own = false;                // other than the first one's
    std::size_t inputs = 0, nodes = 0;  // of the first one's, that it has added too
  };

  Member& at(int member) { return members_[static_cast<std::size_t>(member)]; }
  const Member& at(int member) const { return members_[static_cast<std::size_t>(member)]; }
  const ir::ProgramBuilder& builder_of(int member) const {
    return is_first_or_own(member) ? at(member).builder : at(0).builder;
  }
  void fork(Member& member);  // gives it a program of its own

  std::vector<Member> members_;
};

}  // namespace burn::compile::partition
