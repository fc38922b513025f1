// Formats paragraphs of the documents that are generated from tables.
#pragma once

#include <string>
#include <string_view>

namespace burn::daemon {

// Wraps the words of `text` into lines of at most 136 characters, each with a line break at its end.
std::string wrapped(std::string_view text);

}  // namespace burn::daemon
