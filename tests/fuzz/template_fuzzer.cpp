// Chat templates from anywhere: they end, within the bounds of render_jinja, with a text or an
// Error.
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/tokenizer/jinja.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using nlohmann::ordered_json;
  static const ordered_json variables = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                                         {"add_generation_prompt", true},
                                         {"tools", nullptr}};
  try {
    (void)attnscope::render_jinja({reinterpret_cast<const char*>(data), size}, variables);
  } catch (const attnscope::Error&) {  // the expected end of most
  }
  return 0;
}
