#include "core/checkpoint/gguf_part_name.h"

#include <regex>

namespace attnscope {

namespace {

std::string five_digits(std::int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string GgufPartName::text() const {
  return model + "-" + five_digits(part) + "-of-" + five_digits(parts) + ".gguf";
}

std::optional<GgufPartName> gguf_part_name(const std::string& file_name) {
  static const std::regex numbered(R"((.*)-(\d{5})-of-(\d{5})\.gguf)");
  std::smatch match;
  if (!std::regex_match(file_name, match, numbered)) return std::nullopt;
  return GgufPartName{match[1].str(), std::stoll(match[2]), std::stoll(match[3])};
}

}  // namespace attnscope
