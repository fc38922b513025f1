#include "daemon/operator/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/one_line.h"
#include "base/overloaded.h"

namespace burn::daemon {
namespace {

std::string json_number(double number) { return std::isfinite(number) ? fmt::format("{}", number) : "null"; }

std::string json(const Report::Value& value) {
  return std::visit(Overloaded{
                        [](bool is) { return std::string{is ? "true" : "false"}; },
                        [](std::uint64_t count) { return fmt::format("{}", count); },
                        [](double number) { return json_number(number); },
                        [](const std::string& text) { return json_text(text); },
                    },
                    value);
}

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char c : one_line(text)) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// A column's name ends with the unit of its values.
enum class Unit : std::uint8_t { none, bytes, seconds };

Unit unit_of(std::string_view column) {
  if (column.ends_with("_bytes")) return Unit::bytes;
  return column.ends_with("_seconds") ? Unit::seconds : Unit::none;
}

// "memory in use" for "memory_in_use_bytes", because the values show the unit; "plan bytes" for "plan_bytes".
std::string html_name(std::string_view column) {
  const auto unit = column.rfind('_');
  if (unit_of(column) != Unit::none && column.find('_') != unit) column = column.substr(0, unit);
  auto name = html_text(column);
  std::ranges::replace(name, '_', ' ');
  return name;
}

// "15.3 MiB"
std::string in_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto number = static_cast<double>(bytes);
  for (; number >= 1024 && unit + 1 < kUnits.size(); ++unit) number /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", number, kUnits[unit]);
}

std::string html_value(const Report::Value& value, Unit unit) {
  return std::visit(Overloaded{
                        [](bool is) { return std::string{is ? "<td>yes</td>" : "<td>no</td>"}; },
                        [unit](std::uint64_t count) {
                          return fmt::format("<td class=n>{}</td>",
                                             unit == Unit::bytes ? in_bytes(count) : fmt::format("{}", count));
                        },
                        [unit](double number) {
                          return fmt::format("<td class=n>{:.3f}{}</td>", number, unit == Unit::seconds ? " s" : "");
                        },
                        [](const std::string& text) { return fmt::format("<td>{}</td>", html_text(text)); },
                    },
                    value);
}

// Renders one line per row.
std::string html_rows(const Report::Table& table) {
  std::string html{"<tr>"};
  for (const auto& column : table.columns) html += fmt::format("<th>{}</th>", html_name(column));
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) html += html_value(row[c], unit_of(table.columns[c]));
    html += "</tr>\n";
  }
  return html;
}

// Renders one line per column (transposed).
std::string html_columns(const Report::Table& table) {
  std::string html;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    html += fmt::format("<tr><th>{}</th>", html_name(table.columns[c]));
    for (const auto& row : table.rows) html += html_value(row[c], unit_of(table.columns[c]));
    html += "</tr>\n";
  }
  return html;
}

// Tables with many columns and few rows are transposed, so that the page is no wider than a screen.
std::string html_table(const Report::Table& table) {
  constexpr std::size_t kWide = 7;
  const bool is_turned = table.columns.size() > kWide && table.rows.size() <= kWide;
  return fmt::format("<h2>{}</h2>\n<table>{}</table>\n", html_text(table.name),
                     is_turned ? html_columns(table) : html_rows(table));
}

constexpr std::string_view kStyle =
    "body{font:14px/1.5 sans-serif;margin:2em;color:#222}table{border-collapse:collapse}"
    "th,td{border:1px solid #ccc;padding:.2em .6em;text-align:left}th{background:#f4f4f4}.n{text-align:right}";

}  // namespace

std::string to_json(const Report& report) {
  std::string text{'{'};
  for (std::size_t t = 0; t < report.tables.size(); ++t) {
    const auto& table = report.tables[t];
    text += fmt::format("{}{}:[", t == 0 ? "" : ",", json_text(table.name));
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      text += r == 0 ? "{" : ",{";
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        text += fmt::format("{}{}:{}", c == 0 ? "" : ",", json_text(table.columns[c]), json(table.rows[r][c]));
      }
      text += '}';
    }
    text += ']';
  }
  return text + "}\n";
}

std::string to_html(const Report& report, std::string_view title) {
  auto html = fmt::format(
      "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n",
      html_text(title), kStyle);
  for (const auto& table : report.tables) html += html_table(table);
  return html + "</body></html>\n";
}

}  // namespace burn::daemon
