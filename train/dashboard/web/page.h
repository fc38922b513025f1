// The files of the page, as they were built in.
#pragma once

#include <span>
#include <string_view>

namespace burn::train::dashboard {

struct PageFile {
  std::string_view path;  // "/app.js"
  std::string_view type;  // of its content, as HTTP says it
  std::string_view gzip;
};

// Empty where the build had no npm.
std::span<const PageFile> page_files();

}  // namespace burn::train::dashboard
