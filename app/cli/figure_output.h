// Output files of figure and gallery, and the lines printed about them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/render/render.h"

class QApplication;

namespace attnscope {

/// The files that --out and --format select, checked before any work: each has a known format, and
/// none is one of `inputs`. --out - with one --format is standard output: "-.pdf". Throws
/// Error(usage).
[[nodiscard]] std::vector<std::filesystem::path> figure_files(
    const std::string& out, const std::string& formats,
    const std::vector<std::filesystem::path>& inputs);

/// The QApplication that drawing needs (application.h). Null if no file is a picture and
/// `font_family` is empty, or if a QApplication exists already. Throws Error(usage) for a font
/// family that is not installed, which only Qt can check; empty is the default family.
[[nodiscard]] std::unique_ptr<QApplication> application_for(
    const std::vector<std::filesystem::path>& files, const std::string& font_family);

/// Writes each file and prints a line with its kind and size. Throws Error.
void write_figure(const Figure& figure, const std::vector<std::filesystem::path>& files,
                  const ExportOptions& options);

}  // namespace attnscope
