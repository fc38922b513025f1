// What a daemon tells of itself: tables, shown as JSON (/status) or as a page for people (/debug).
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
    std::vector<std::string> columns;      // "memory_in_use_bytes": the name tells the unit
    std::vector<std::vector<Value>> rows;  // as many values in each as there are columns
  };

  std::vector<Table> tables;
};

// {"devices":[{"name":"cpu","runs":7}]}: an array for each table, an object for each row. Text that is not UTF-8 has
// its other bytes written out.
std::string to_json(const Report& report);
// A page of HTML: bytes and seconds with their units, tables of many columns and few rows turned. Without scripts,
// images or links to other machines. Everything that is not our own is escaped.
std::string to_html(const Report& report, std::string_view title);

}  // namespace burn::daemon
