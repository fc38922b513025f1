#include "compile/lower/step_uses.h"

#include <algorithm>

namespace burn::compile {

void StepUses::begin_step() {
  given_.clear();
  written_.clear();
}

Address StepUses::to_write(const Address& address) {
  given_.push_back(address);
  written_.push_back(address);
  return address;
}

Address StepUses::to_read(const Address& address) {
  given_.push_back(address);
  return address;
}

void StepUses::add(const Address& address, std::vector<Use>& uses) const {
  if (address.base == Address::Base::none || address.base == Address::Base::bindings) return;  // nobody writes these
  const auto is_this = [&](const Address& other) { return address.base == other.base && address.index == other.index; };
  const bool is_read_only = address.base != Address::Base::failures && std::ranges::any_of(given_, is_this) &&
                            std::ranges::none_of(written_, is_this);
  uses.push_back({address, !is_read_only});
}

std::vector<Use> StepUses::of(std::span<const Address> addresses) const {
  std::vector<Use> uses;
  uses.reserve(addresses.size());
  for (const auto& address : addresses) add(address, uses);
  return uses;
}

std::vector<Use> StepUses::of(std::span<const Argument> arguments) const {
  std::vector<Use> uses;
  for (const auto& argument : arguments) {
    if (argument.is_address()) add(argument.address(), uses);
  }
  return uses;
}

}  // namespace burn::compile
