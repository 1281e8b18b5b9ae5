// Where figure and compose write, and what they say of it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/render/render.h"

class QApplication;

namespace attnscope {

/// The files that --out and --format ask for, checked before any work: of a known format, and none
/// of `inputs`, which would be lost. --out - with one --format is standard output: "-.pdf". Throws
/// Error(usage).
[[nodiscard]] std::vector<std::filesystem::path> figure_files(
    const std::string& out, const std::string& formats,
    const std::vector<std::filesystem::path>& inputs);

/// What drawing needs, where any of the files is a picture: see application.h. Null for numbers and
/// source, and if there is one already.
[[nodiscard]] std::unique_ptr<QApplication> application_for(
    const std::vector<std::filesystem::path>& files);

/// Writes each, with a line of what it is. Throws Error.
void write_figure(const Figure& figure, const std::vector<std::filesystem::path>& files,
                  const ExportOptions& options);

}  // namespace attnscope
