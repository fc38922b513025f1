// The files of the page, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace burn::train::dashboard {

struct PageFile {
  std::string_view path;  // "/app.js"
  std::string_view type;  // HTTP content type
  std::string_view gzip;
};

// Empty if the build had no npm.
std::span<const PageFile> page_files();

}  // namespace burn::train::dashboard
