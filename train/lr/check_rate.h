// Checks learning rates, for schedules and optimizers.
#pragma once

#include <string>

#include "ir/program.h"

namespace burn::lr {

// Errors (thrown): a rate that is negative, infinite or NaN. "`where`: the learning rate is nan, must be at least 0 and
// finite". `what`: which rate, if it is not "the learning rate".
void check_rate(const std::string& where, double rate, const ir::CallSite& site = {},
                const std::string& what = "the learning rate");

}  // namespace burn::lr
