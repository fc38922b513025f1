// Paragraphs of documents that are printed from tables.
#pragma once

#include <string>
#include <string_view>

namespace burn::daemon {

// The words of `text` in lines of at most 136 characters, each with its end.
std::string wrapped(std::string_view text);

}  // namespace burn::daemon
