// What the commands of a step use: of the memory that the step has been given, and whether they write it.
#pragma once

#include <span>
#include <vector>

#include "compile/lower/commands.h"

namespace burn::compile {

// A step writes what it has asked to write, and reads what else it has been given.
class StepUses {
 public:
  void begin_step();
  Address to_write(const Address& address);
  Address to_read(const Address& address);

  // What did not come from to_read() is taken to be written.
  std::vector<Use> of(std::span<const Address> addresses) const;
  std::vector<Use> of(std::span<const Argument> arguments) const;
  std::vector<Use> of_all() const { return of(given_); }

 private:
  void add(const Address& address, std::vector<Use>& uses) const;

  std::vector<Address> given_, written_;
};

}  // namespace burn::compile
