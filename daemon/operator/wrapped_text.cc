#include "daemon/operator/wrapped_text.h"

#include <cstddef>
#include <sstream>

namespace burn::daemon {

std::string wrapped(std::string_view text) {
  constexpr std::size_t kWidth = 136;
  std::string lines;
  std::size_t column = 0;
  std::istringstream words{std::string{text}};
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      lines += '\n';
      column = 0;
    }
    if (column > 0) lines += ' ';
    lines += word;
    column += word.size() + (column == 0 ? 0 : 1);
  }
  return lines + '\n';
}

}  // namespace burn::daemon
