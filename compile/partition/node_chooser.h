// Chooses in which form a node is computed, given the forms of what it reads: what sends the fewest bytes, and, of what
// needs none, what readers want.
#pragma once

#include <optional>

#include "compile/partition/choice.h"
#include "compile/partition/facts.h"
#include "compile/partition/layout_preferences.h"
#include "compile/partition/other_axis.h"

namespace burn::compile::partition {

// Along one axis of a mesh.
class NodeChooser {
 public:
  // All of them outlive it.
  NodeChooser(const ir::Program& program, const Facts& facts, const LayoutPreferences& preferences,
              const OtherAxis& other, int members)
      : program_(program), facts_(facts), preferences_(preferences), other_(other), members_(members) {}

  // For the n-th node. `is_free`: set where it can be had in any form, so that its readers choose. `read_with`: the
  // form of what its result is read with (Facts::read_with), or null.
  Choice choose(std::size_t n, const NodeForms& forms, bool& is_free, const Form* read_with) const;
  // A choice that the other axis leaves.
  std::optional<Choice> allowed(std::size_t n, std::optional<Choice> choice) const;

 private:
  std::optional<Choice> as_hinted(const ir::Node& node, const NodeForms& forms) const;
  static bool reads_other_split(const NodeForms& forms, const Form* read_with);
  double cost(const NodeForms& forms, const Choice& choice) const;
  Choice cheapest(std::size_t n, const NodeForms& forms, bool exact) const;

  const ir::Program& program_;
  const Facts& facts_;
  const LayoutPreferences& preferences_;
  const OtherAxis& other_;
  const int members_;
};

}  // namespace burn::compile::partition
