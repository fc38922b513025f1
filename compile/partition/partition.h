// A program over whole values as programs for the members of a group, of which each computes on its parts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/partition/layout.h"
#include "compile/partition/writer.h"
#include "ir/program.h"

namespace burn::compile::partition {

struct Partitioned {
  // By rank: each takes the parts of the inputs and gives the parts of the outputs, with collectives between
  // (ir/ops/collectives.h), which all of them have in the same order. Members with equal parts of everything may have
  // equal programs.
  std::vector<std::shared_ptr<const ir::Program>> members;
  std::vector<MeshLayout> outputs;
  std::vector<Conversion> conversions;  // the collectives, in their order
};

// Inputs lie as given, and keep their order and whether they are donated. Outputs keep their order, scalars their
// slots; random numbers are those of the whole program. An output lies as `wanted` says (an element for each output, or
// none at all); else as a Place says; else, where a Commit decides between it and an input, as that input, and whole
// where it decides between it and another value; else as it is computed.
//
// Results are those of the program but for the order in which sums are rounded. A value that is whole has the same bits
// on all members. A program for one member is the given one.
//
// Collectives between the members of a row along an axis are of that axis' group (group_of): a member is in one group
// for each axis. A Place is of the axis that it names; in a mesh without "model" all of them are of "data".
//
// Errors: INVALID_ARGUMENT for layouts that do not fit, a number of members along an axis that is not 1 to
// ir::kMaxMembers, and a program that has collectives (with its call site); those of ir::ProgramBuilder.
Result<Partitioned> partition(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh,
                              std::span<const std::optional<MeshLayout>> wanted = {});

// On a mesh of one axis.
Result<Partitioned> partition(const ir::Program& program, std::span<const Layout> inputs, int members,
                              std::span<const std::optional<Layout>> wanted = {});

// The conversions, the layouts of the outputs, and the first member's program.
std::string to_string(const Partitioned& partitioned);

}  // namespace burn::compile::partition
