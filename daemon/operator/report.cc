#include "daemon/operator/report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/one_line.h"
#include "base/overloaded.h"
#include "daemon/operator/json_text.h"

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

std::string html_value(const Report::Value& value) {
  return std::visit(Overloaded{
                        [](bool is) { return std::string{is ? "<td>yes</td>" : "<td>no</td>"}; },
                        [](std::uint64_t count) { return fmt::format("<td class=n>{}</td>", count); },
                        [](double number) { return fmt::format("<td class=n>{:.3f}</td>", number); },
                        [](const std::string& text) { return fmt::format("<td>{}</td>", html_text(text)); },
                    },
                    value);
}

std::string html_table(const Report::Table& table) {
  std::string html = fmt::format("<h2>{}</h2>\n<table><tr>", html_text(table.name));
  for (const auto& column : table.columns) html += fmt::format("<th>{}</th>", html_text(column));
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const auto& value : row) html += html_value(value);
    html += "</tr>\n";
  }
  return html + "</table>\n";
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
