#include "app/cli/inspect_trace.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/standard_streams.h"
#include "core/shown_text.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

using Json = nlohmann::ordered_json;

/// [heads, queries, keys] per layer; zeros for a layer that was not recorded.
Json layer_shapes(const Trace& trace) {
  Json shapes = Json::array();
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    shapes.push_back({trace.heads(layer), trace.queries(layer), trace.keys(layer)});
  }
  return shapes;
}

}  // namespace

void print_line(const char* what, const std::string& value) {
  std::printf("%-14s %s\n", shown_text(what).c_str(), shown_text(value).c_str());
}

int inspect_trace(const std::string& file, bool json) {
  const Trace trace = read_trace(file);
  if (json) {
    Json object = {{"file", file},
                   {"format", "trace"},
                   {"model_name", trace.model_name},
                   {"mechanism", to_string(trace.mechanism)},
                   {"identity_in_maps", shows_identity(trace, IdentityView::as_is)},
                   {"input", trace.input_label},
                   {"layers", trace.layers.size()},
                   {"heads", trace.heads()},
                   {"tokens", trace.tokens()},
                   {"layer_shapes", layer_shapes(trace)},
                   {"grid", {trace.layout.rows, trace.layout.columns}},
                   {"provenance", trace.provenance}};
    print_json(object);
    return 0;
  }
  print_line("file", file);
  print_line("format", "trace");
  print_line("model", trace.model_name);
  print_line("input", trace.input_label);
  print_line("mechanism", to_string(trace.mechanism));
  print_line("identity",
             shows_identity(trace, IdentityView::as_is) ? "in the maps" : "not in the maps");
  print_line("layers", std::to_string(trace.layers.size()));
  if (trace.uniform()) {
    print_line("heads", std::to_string(trace.heads()));
    print_line("tokens", std::to_string(trace.tokens()));
  } else {
    for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
      if (trace.queries(layer) == 0) continue;
      print_line(layer_name(trace, layer).c_str(), std::to_string(trace.heads(layer)) + " heads, " +
                                                       std::to_string(trace.queries(layer)) +
                                                       " tokens, " +
                                                       std::to_string(trace.keys(layer)) + " keys");
    }
  }
  for (const auto& [key, value] : trace.provenance) print_line(key.c_str(), value);
  return 0;
}

}  // namespace attnscope
