#include "app/cli/version.h"

#include <CLI/Version.hpp>
#include <QtGlobal>
#include <algorithm>
#include <imgui/imgui.h>
#include <nlohmann/json.hpp>

#include "app/render/render.h"
#include "core/built_with.h"
#include "core/platform/openblas.h"
#include "core/tensor/blas.h"

namespace attnscope {

namespace {

std::vector<LibraryVersion> all_libraries() {
  std::vector<LibraryVersion> libraries = core_libraries();
  libraries.push_back({"CLI11", CLI11_VERSION});
  libraries.push_back({"Dear ImGui", IMGUI_VERSION});
  libraries.push_back({"QCustomPlot", plot_library_version()});
  libraries.push_back({"Qt", qVersion()});
  std::ranges::sort(libraries, {}, &LibraryVersion::name);
  return libraries;
}

nlohmann::ordered_json version_json(bool verbose) {
  nlohmann::ordered_json json = {{"version", ATTNSCOPE_VERSION}};
  if (!verbose) return json;
  use_one_blas_thread();  // selects the kernels
  json["compiler"] = compiler_version();
  json["blas_kernels"] = blas_kernels();
  json["simd_targets"] = simd_targets();
  json["threads"] = worker_threads();
  for (const LibraryVersion& library : all_libraries()) {
    json["libraries"][library.name] = library.version;
  }
  return json;
}

}  // namespace

std::string version_text(bool verbose, bool json) {
  const nlohmann::ordered_json all = version_json(verbose);
  if (json) return all.dump(2);
  std::string text = "attnscope " ATTNSCOPE_VERSION;
  if (!verbose) return text;
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    text += "\n" + name + value;
  };
  line("compiler", all["compiler"]);
  line("OpenBLAS kernels", all["blas_kernels"]);
  // The first target listed is the one in use.
  line("SIMD kernels", all["simd_targets"].empty() ? "none" : all["simd_targets"].front());
  line("threads", std::to_string(all["threads"].get<int>()));
  for (const auto& [name, version] : all["libraries"].items()) line(name, version);
  return text;
}

}  // namespace attnscope
