#include "app/cli/figure_output.h"

#include <QApplication>
#include <algorithm>
#include <cstdio>

#include "app/cli/standard_streams.h"
#include "app/cli/style_arguments.h"
#include "app/render/application.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace fs = std::filesystem;

std::vector<fs::path> figure_files(const std::string& out, const std::string& formats,
                                   const std::vector<fs::path>& inputs) {
  if (out == "-" && (formats.empty() || formats.find(',') != std::string::npos)) {
    throw Error(ErrorKind::usage, "standard output takes one file, whose format must be specified")
        .about("--out -")
        .expected("--format with one format, such as --format pdf")
        .found(formats.empty() ? "none" : formats);
  }
  std::vector<fs::path> files = export_files(out, formats);
  for (const fs::path& file : files) refuse_to_overwrite(file, inputs);
  return files;
}

std::unique_ptr<QApplication> application_for(const std::vector<fs::path>& files,
                                              const std::string& font_family) {
  const bool draws = std::ranges::any_of(files, [](const fs::path& file) {
    return std::ranges::any_of(export_formats(), [&](const ExportFormat& format) {
      return format.drawn && format.extension == file.extension().string();
    });
  });
  const bool has_font = !font_family.empty();
  std::unique_ptr<QApplication> application;
  if (draws || has_font) application = drawing_application();
  if (has_font) check_font_family(font_family);
  return application;
}

void write_figure(const Figure& figure, const std::vector<fs::path>& files,
                  const ExportOptions& options) {
  // All files are checked before the first is written.
  for (const fs::path& file : files) refuse_to_overwrite_read(file);
  for (const fs::path& file : files) {
    const std::string out = file.has_parent_path() || file.stem() != "-" ? file.string() : "-";
    write_output(out, file.extension().string(),
                 [&](const fs::path& place) { export_figure(figure, place, options); });
    std::fprintf(lines_beside(out), "%s: %s, %s × %s mm\n",
                 out == "-" ? "standard output" : shown_text(out).c_str(), figure.title.c_str(),
                 rounded_text(figure.width_mm, 6).c_str(),
                 rounded_text(figure.height_mm, 6).c_str());
  }
}

}  // namespace attnscope
