// A daemon's report about itself: tables, shown as JSON (/status) or as an HTML page (/debug).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace burn::daemon {

struct Report {
  using Value = std::variant<bool, std::uint64_t, double, std::string>;
  struct Table {
    std::string name;                      // "devices"
    std::vector<std::string> columns;      // "memory_in_use_bytes": the name ends with the unit
    std::vector<std::vector<Value>> rows;  // each has one value per column
  };

  std::vector<Table> tables;
};

// {"devices":[{"name":"cpu","runs":7}]}: an array for each table, an object for each row. Invalid UTF-8 is escaped.
std::string to_json(const Report& report);
// An HTML page: bytes and seconds have units; tables with many columns and few rows are transposed. Contains no
// scripts, images or links to other machines. All text that is not part of the program is escaped.
std::string to_html(const Report& report, std::string_view title);

}  // namespace burn::daemon
