// What a PDF says of itself, besides what Qt can write.
#pragma once

#include <QByteArray>

#include "analysis/figure/figure.h"

namespace attnscope {

/// The file with the figure's provenance in its document information: Title, Subject (the caption),
/// Keywords (the model files), Creator ("attnscope 0.1.0") and Command; `pdfinfo -custom` shows the
/// last. Without the time of day: the same figure is the same bytes. `pdf` is what QPdfWriter
/// wrote; the new information is appended as PDF 1.4, 3.4.5 (incremental updates) has it.
[[nodiscard]] QByteArray with_provenance(QByteArray pdf, const Figure& figure);

}  // namespace attnscope
