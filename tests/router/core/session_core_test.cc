// What a client's calls become for the members of its session (router/core/session_core.h).
#include "router/core/session_core.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/core/parts.h"
#include "router/core/replication.h"
#include "tests/session/programs.h"

namespace burn::router {
namespace {

using proto::HostTensor;
using session::add_program;
using session::scale_program;
using session::tensor;
using session::values;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "0:define 1", "1:run 1 (2 3 -> 4)", "0:write 7 f32[2, 3]", "1:release 2"
std::string text_of(const Outgoing& outgoing) {
  struct Text {
    std::string operator()(const proto::DefineProgram& define) const {
      return "define " + (define.id == kReplicationProgram ? "copy" : std::to_string(define.id));
    }
    std::string operator()(const proto::Run& run) const {
      std::string text = "run " + (run.program == kReplicationProgram ? "copy" : std::to_string(run.program)) + " (";
      for (const auto id : run.inputs) text += std::to_string(id) + " ";
      return text + "-> " + std::to_string(run.first_output) + ")";
    }
    std::string operator()(const MemberWrite& write) const {
      return "write " + std::to_string(write.id) + " " + ir::to_string(write.tensor.type);
    }
    std::string operator()(const proto::Release& release) const {
      std::string text = "release";
      for (const auto id : release.ids) text += " " + std::to_string(id);
      return text;
    }
  };
  return std::to_string(outgoing.member) + ":" + std::visit(Text{}, outgoing.call);
}

std::vector<std::string> taken(Outbox& out) {
  std::vector<std::string> texts;
  for (const auto& outgoing : out.take()) texts.push_back(text_of(outgoing));
  return texts;
}

HostTensor rows(std::int64_t count, std::int64_t columns) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count * columns; ++i) numbers.push_back(static_cast<float>(i));
  return tensor({count, columns}, std::move(numbers));
}

proto::Run run_of(proto::ProgramId program, std::vector<proto::TensorId> inputs, proto::TensorId output,
                  std::vector<std::uint64_t> scalars = {}) {
  return {.program = program, .inputs = std::move(inputs), .first_output = output, .scalars = std::move(scalars)};
}

class SessionCoreTest : public testing::Test {
 protected:
  SessionCore core_{{.mesh = {.data = 2}, .home = 1}};
  Outbox out_;

  void make_wide() {
    EXPECT_TRUE(core_.widen(out_).ok());
    taken(out_);
  }
};

TEST_F(SessionCoreTest, ASessionWithoutMarksLivesOnItsHome) {
  core_.define(1, add_program({2, 3}), {}, out_);
  EXPECT_EQ(core_.write(7, rows(2, 3), {}, out_), nullptr);
  EXPECT_EQ(core_.run(run_of(1, {7, 7}, 8), out_), nullptr);
  EXPECT_EQ(core_.release(std::vector<proto::TensorId>{7}, out_), nullptr);
  EXPECT_THAT(taken(out_), ElementsAre("1:define 1", "1:write 7 f32[2, 3]", "1:run 1 (7 7 -> 8)", "1:release 7"));
  EXPECT_THAT(core_.read(8).members, ElementsAre(1));
  EXPECT_FALSE(core_.is_wide());
}

TEST_F(SessionCoreTest, MadeWideEveryMemberGetsWhatHomeHas) {
  EXPECT_EQ(core_.write(7, rows(2, 3), {}, out_), nullptr);
  EXPECT_EQ(core_.write(5, tensor({}, {4}), {}, out_), nullptr);
  taken(out_);
  EXPECT_TRUE(core_.widen(out_).ok());
  EXPECT_THAT(taken(out_), ElementsAre("0:define copy", "0:run copy (-> 5)", "1:define copy", "1:run copy (5 -> 0)",
                                       "0:define copy", "0:run copy (-> 7)", "1:define copy", "1:run copy (7 -> 0)"));
}

TEST_F(SessionCoreTest, OfABatchEachMemberGetsItsRowsAndOfOtherValuesAll) {
  make_wide();
  EXPECT_EQ(core_.write(7, rows(5, 2), 0, out_), nullptr);
  EXPECT_EQ(core_.write(8, rows(2, 5), 1, out_), nullptr);
  EXPECT_EQ(core_.write(9, rows(1, 2), {}, out_), nullptr);
  const auto calls = out_.take();
  ASSERT_EQ(calls.size(), 6u);
  const auto part = [&](std::size_t i) { return values(std::get<MemberWrite>(calls[i].call).tensor); };
  EXPECT_THAT(part(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(part(1), ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(part(2), ElementsAre(0, 1, 5, 6));
  EXPECT_THAT(part(3), ElementsAre(2, 3, 4, 7, 8, 9));
  EXPECT_THAT(part(4), ElementsAre(0, 1));
  EXPECT_THAT(part(5), ElementsAre(0, 1));
  EXPECT_THAT(core_.read(7).members, ElementsAre(0, 1));
}

TEST_F(SessionCoreTest, WeightedMembersGetPartsOfTheirWeight) {
  SessionCore core({.mesh = {.data = 2}, .weights = {1, 3}});
  EXPECT_TRUE(core.widen(out_).ok());
  EXPECT_EQ(core.write(7, rows(8, 1), 0, out_), nullptr);
  EXPECT_THAT(taken(out_), ElementsAre("0:write 7 f32[2, 1]", "1:write 7 f32[6, 1]"));
}

// Members 0 and 1 are a row, 2 and 3 the other one.
TEST(SessionCoreOnAMesh, ARowHasOnePartOfABatchAndAColumnTheWhole) {
  SessionCore core({.mesh = {.data = 2, .model = 2}, .home = 1, .weights = {1, 1, 3, 3}});
  Outbox out;
  EXPECT_EQ(core.write(6, rows(1, 2), {}, out), nullptr);
  taken(out);
  EXPECT_TRUE(core.widen(out).ok());
  EXPECT_THAT(taken(out), ElementsAre("0:define copy", "0:run copy (-> 6)", "1:define copy", "1:run copy (6 -> 0)",
                                      "2:define copy", "2:run copy (-> 6)", "3:define copy", "3:run copy (-> 6)"));
  EXPECT_EQ(core.write(7, rows(8, 1), 0, out), nullptr);
  EXPECT_THAT(taken(out),
              ElementsAre("0:write 7 f32[2, 1]", "1:write 7 f32[2, 1]", "2:write 7 f32[6, 1]", "3:write 7 f32[6, 1]"));
  EXPECT_THAT(core.read(6).members, ElementsAre(1));
  EXPECT_THAT(core.read(7).members, ElementsAre(1, 3));
}

TEST(SessionCoreOnAMesh, WithoutADataAxisABatchIsWhole) {
  SessionCore core({.mesh = {.data = 1, .model = 2}});
  Outbox out;
  EXPECT_TRUE(core.widen(out).ok());
  EXPECT_EQ(core.write(7, rows(8, 1), 0, out), nullptr);
  EXPECT_THAT(taken(out), ElementsAre("0:write 7 f32[8, 1]", "1:write 7 f32[8, 1]"));
}

TEST_F(SessionCoreTest, ARunIsOneFrameToEachMember) {
  make_wide();
  core_.define(1, scale_program({4, 2}), {}, out_);
  EXPECT_EQ(core_.write(7, rows(4, 2), 0, out_), nullptr);
  taken(out_);
  EXPECT_EQ(core_.run(run_of(1, {7}, 8, {0}), out_), nullptr);
  EXPECT_THAT(taken(out_), ElementsAre("0:define 1", "1:define 1", "0:run 1 (7 -> 8)", "1:run 1 (7 -> 8)"));
  EXPECT_EQ(core_.run(run_of(1, {8}, 9, {0}), out_), nullptr);
  EXPECT_THAT(taken(out_), ElementsAre("0:run 1 (8 -> 9)", "1:run 1 (8 -> 9)"));
  EXPECT_EQ(core_.layout_of(9), core_.layout_of(7));
  EXPECT_EQ(core_.variants_made(), 1u);
}

TEST_F(SessionCoreTest, AProgramIsRewrittenForEachLayoutOfItsInputsAndErrorsHaveTheClientsName) {
  make_wide();
  core_.define(1, scale_program({4, 2}), {}, out_);
  EXPECT_EQ(core_.write(7, rows(4, 2), 0, out_), nullptr);
  EXPECT_EQ(core_.write(8, rows(4, 2), {}, out_), nullptr);
  EXPECT_EQ(core_.run(run_of(1, {7}, 10, {0}), out_), nullptr);
  EXPECT_EQ(core_.run(run_of(1, {8}, 11, {0}), out_), nullptr);
  EXPECT_EQ(core_.variants_made(), 2u);
  const auto own = std::to_string(kFirstOwnProgram);
  EXPECT_EQ(core_.names().with_client_ids(internal_error("program " + own + ": no")).message(), "program 1: no");
  EXPECT_EQ(core_.names().with_client_ids(internal_error("program 17: no")).message(), "program 17: no");
  taken(out_);
  core_.define(1, scale_program({4, 2}), {}, out_);
  EXPECT_EQ(core_.run(run_of(1, {7}, 12, {0}), out_), nullptr);
  const auto calls = out_.take();
  EXPECT_THAT(std::get<proto::DefineProgram>(calls[0].call).forget, ElementsAre(kFirstOwnProgram));
}

TEST_F(SessionCoreTest, WhatIsRefusedFailsAndPoisonsWhatItWouldHaveMade) {
  make_wide();
  core_.define(1, add_program({2, 3}), {}, out_);
  const auto why = core_.write(7, {session::f32({2, 3}), SharedBytes::own(std::vector<float>(5))}, {}, out_);
  ASSERT_NE(why, nullptr);
  EXPECT_THAT(std::string{why->message()}, HasSubstr("20 bytes for tensor 7: f32[2, 3], which has 24"));
  EXPECT_THAT(std::string{core_.run(run_of(1, {7, 7}, 8), out_)->message()}, HasSubstr("20 bytes for tensor 7"));
  EXPECT_EQ(core_.read(7).poisoned, why);
  EXPECT_THAT(std::string{core_.read(8).poisoned->message()}, HasSubstr("program 1: 20 bytes for tensor 7"));
  EXPECT_THAT(std::string{core_.run(run_of(9, {7}, 9), out_)->message()},
              HasSubstr("program 9 is not known in this session"));
  EXPECT_THAT(std::string{core_.write(20, rows(2, 3), 2, out_)->message()}, HasSubstr("has no axis 2 to be a batch's"));
  EXPECT_THAT(taken(out_), IsEmpty());
}

TEST_F(SessionCoreTest, RunsAreCheckedBeforeAnyMemberIsTold) {
  make_wide();
  core_.define(1, add_program({2, 3}, true), {}, out_);
  EXPECT_EQ(core_.write(7, rows(2, 3), {}, out_), nullptr);
  EXPECT_EQ(core_.write(8, rows(3, 2), {}, out_), nullptr);
  taken(out_);
  const auto says = [&](const proto::Run& run) { return std::string{core_.run(run, out_)->message()}; };
  EXPECT_EQ(says(run_of(1, {8, 8}, 120)), "program 1: input 0 is f32[2, 3], tensor 8 is f32[3, 2]");
  EXPECT_THAT(taken(out_), ElementsAre("0:release 8", "1:release 8")) << "given away is given away";
  EXPECT_EQ(says(run_of(1, {6, 7}, 110)), "program 1: tensor 6 is not known in this session");
  EXPECT_EQ(says(run_of(1, {7, 7}, 7)), "program 1: tensor 7 exists already in this session");
  EXPECT_EQ(says(run_of(1, {9}, 100)), "program 1: 1 inputs given, it has 2");
  EXPECT_THAT(std::string{core_.read(100).poisoned->message()}, HasSubstr("1 inputs given"));
}

// Programs are charged with the bytes that they need, and the charge is returned when they are forgotten.
TEST(SessionCorePrograms, AreChargedWhileTheyAreKnownAndRefusedWhereThereIsNoRoom) {
  std::uint64_t charged = 0, room = std::uint64_t{1} << 20;
  SessionCore core({.mesh = {.data = 2}, .charge = [&](std::uint64_t bytes) -> Status {
                      if (bytes > room) return resource_exhausted("no room");
                      charged = bytes;
                      return {};
                    }});
  Outbox out;
  EXPECT_TRUE(core.widen(out).ok());
  EXPECT_EQ(core.define(1, scale_program({4, 2}), {}, out), nullptr);
  const auto of_one = charged;
  EXPECT_GT(of_one, 0u);
  EXPECT_EQ(core.define(2, scale_program({4, 2}), {}, out), nullptr);
  EXPECT_EQ(charged, 2 * of_one);
  EXPECT_EQ(core.write(7, rows(4, 2), 0, out), nullptr);
  EXPECT_EQ(core.write(8, rows(4, 2), {}, out), nullptr);
  EXPECT_EQ(core.run(run_of(1, {7}, 10, {0}), out), nullptr);
  EXPECT_EQ(charged, 2 * of_one) << "with the program for its first layout";
  EXPECT_EQ(core.run(run_of(1, {8}, 11, {0}), out), nullptr);
  EXPECT_GT(charged, 2 * of_one) << "another layout";
  room = charged;
  taken(out);
  EXPECT_EQ(core.run(run_of(2, {7}, 12, {0}), out), nullptr);
  EXPECT_EQ(std::string{core.run(run_of(2, {8}, 13, {0}), out)->message()}, "program 2: no room");
  EXPECT_EQ(std::string{core.define(3, scale_program({4, 2}), {}, out)->message()}, "there is no room for program 3");
  EXPECT_THAT(std::string{core.run(run_of(3, {7}, 14, {0}), out)->message()}, HasSubstr("program 3"));
  const std::vector<proto::ProgramId> first{1};
  EXPECT_EQ(core.define(3, scale_program({4, 2}), first, out), nullptr) << "in the place of another";
  EXPECT_EQ(charged, 2 * of_one);
}

TEST(SessionCorePrograms, ThatAreRefusedAreNotKeptWithoutEnd) {
  SessionCore core({.mesh = {.data = 2}, .max_programs = 2});
  Outbox out;
  for (proto::ProgramId id = 1; id <= 100; ++id) core.define_refused(id, 1, invalid_argument("nonsense"), {}, out);
  EXPECT_THAT(std::string{core.run(run_of(1, {}, 10), out)->message()}, HasSubstr("nonsense"));
  EXPECT_THAT(std::string{core.run(run_of(100, {}, 11), out)->message()}, HasSubstr("not known"));
}

TEST_F(SessionCoreTest, NumbersOfTheRoutersOwnAreNotAClients) {
  core_.define(kFirstOwnProgram, scale_program({2}), {}, out_);
  EXPECT_THAT(std::string{core_.run(run_of(kFirstOwnProgram, {}, 1), out_)->message()}, HasSubstr("are the router's"));
}

TEST(Parts, JoinedAreTheWhole) {
  const auto whole = rows(3, 4);
  for (const std::int32_t dim : {0, 1}) {
    const Layout layout{.dim = dim, .bounds = compile::partition::balanced(whole.type.shape[dim], 3)};
    std::vector<HostTensor> parts;
    parts.reserve(3);
    for (int member = 0; member < 3; ++member) parts.push_back(part_of(whole, layout, member));
    const auto all = value_or_throw(joined(parts, whole.type, layout));
    EXPECT_EQ(values(all), values(whole));
    parts[1] = rows(1, 1);
    EXPECT_THAT(std::string{joined(parts, whole.type, layout).status().message()}, HasSubstr("member 1 has f32[1, 1]"));
  }
}

TEST(Parts, OfAMeshJoinedAreTheWhole) {
  const auto whole = rows(3, 4);
  const Mesh mesh{.data = 2, .model = 3};
  const MeshLayout layout{Layout::split(0, {0, 1, 3}), Layout::split(1, {0, 2, 2, 4})};
  std::vector<HostTensor> parts;
  parts.reserve(static_cast<std::size_t>(mesh.members()));
  for (int member = 0; member < mesh.members(); ++member) parts.push_back(part_of(whole, layout, mesh, member));
  EXPECT_THAT(values(parts[3]), ElementsAre(4, 5, 8, 9));
  EXPECT_EQ(values(value_or_throw(joined(parts, whole.type, layout))), values(whole));
}

TEST(Spread, OnAMeshGoesAlongHomesColumnThenAlongRows) {
  const Mesh mesh{.data = 2, .model = 2};
  const ir::TensorType type{ir::DType::f32, {3}};
  EXPECT_EQ(value_or_throw(replication_program(type, mesh, 1, 1))->effect_count, 2);
  EXPECT_EQ(value_or_throw(replication_program(type, mesh, 1, 3))->effect_count, 2);
  EXPECT_EQ(value_or_throw(replication_program(type, mesh, 1, 0))->effect_count, 1);
  const auto other = value_or_throw(replication_program(type, mesh, 1, 2));
  EXPECT_EQ(other->effect_count, 1);
  EXPECT_EQ(other->type_of(other->outputs.at(0)), type);
}

TEST(Spread, IsMadeForEveryKindOfValue) {
  for (const auto& type : {ir::TensorType{ir::DType::f32, {}}, ir::TensorType{ir::DType::bool_, {3}},
                           ir::TensorType{ir::DType::i64, {0, 2}}, ir::TensorType{ir::DType::bf16, {2, 3, 4}}}) {
    const auto home = value_or_throw(replication_program(type, {.data = 3}, 1, 1)),
               other = value_or_throw(replication_program(type, {.data = 3}, 1, 2));
    EXPECT_EQ(home->inputs.at(0).type, type);
    EXPECT_THAT(home->outputs, IsEmpty());
    EXPECT_EQ(home->effect_count, 1);
    EXPECT_EQ(other->type_of(other->outputs.at(0)), type);
  }
}

}  // namespace
}  // namespace burn::router
