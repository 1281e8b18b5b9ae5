// Fuzzes the parser of all JSON from files. Accepted values must survive writing and parsing again.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.h"
#include "core/text/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const nlohmann::json value = attnscope::parse_json(text);
    if (attnscope::parse_json(value.dump()) != value) std::abort();
    if (attnscope::parse_ordered_json(text).size() != value.size()) std::abort();
  } catch (const attnscope::Error&) {
  }
  return 0;
}
