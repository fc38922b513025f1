#include "train/lr/check_rate.h"

#include <cmath>
#include <sstream>

#include "client/fail.h"

namespace burn::lr {

void check_rate(const std::string& where, double rate, const ir::CallSite& site, const std::string& what) {
  if (rate >= 0 && std::isfinite(rate)) return;  // false for NaN
  std::ostringstream text;
  text << where << ": " << what << " is " << rate << ", must be at least 0 and finite";
  client::fail(text.str(), site);
}

}  // namespace burn::lr
