#include "analysis/html/html_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/shown_text.h"

namespace attnscope {

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : shown_text(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto byte = i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U;
      group = group << 8U | byte;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= count ? digits[group >> (18U - 6U * i) & 63U] : '=';
    }
  }
  return out;
}

std::string png_uri(std::string_view png) { return "data:image/png;base64," + base64(png); }

std::string json_in_script(const nlohmann::ordered_json& json) {
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string filled_in(std::string_view pattern,
                      const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t open = pattern.find("{{", at);
    if (open == std::string_view::npos) return out + std::string(pattern.substr(at));
    const std::size_t close = pattern.find("}}", open);
    const std::string name(pattern.substr(open + 2, close - open - 2));
    const auto value = std::ranges::find(values, name, &std::pair<std::string, std::string>::first);
    if (value == values.end()) throw std::logic_error("the page has no value for {{" + name + "}}");
    out += pattern.substr(at, open - at);
    out += value->second;
    at = close + 2;
  }
  return out;
}

}  // namespace attnscope
