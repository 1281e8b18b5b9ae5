// Where figure and compose write, and what they say of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/render/render.h"

namespace attnscope {

/// The files that --out and --format ask for, checked before any work: of a known format, and none
/// of `inputs`, which would be lost. --out - with one --format is standard output: "-.pdf". Throws
/// Error(usage).
[[nodiscard]] std::vector<std::filesystem::path> figure_files(
    const std::string& out, const std::string& formats,
    const std::vector<std::filesystem::path>& inputs);

/// Writes each, with a line of what it is. Throws Error.
void write_figure(const Figure& figure, const std::vector<std::filesystem::path>& files,
                  const ExportOptions& options);

}  // namespace attnscope
