// Document information of a PDF beyond what Qt writes.
#pragma once

#include <QByteArray>

#include "analysis/figure/figure.h"

namespace attnscope {

/// The file with the figure's provenance in its document information: Title, Subject (the caption),
/// Keywords (the model files), Creator ("attnscope 0.1.0") and Command, which `pdfinfo -custom`
/// shows. The time of day is left out, for identical bytes of identical figures. `pdf` is the
/// output of QPdfWriter; the new information is appended as an incremental update (PDF 1.4, 3.4.5).
[[nodiscard]] QByteArray with_provenance(QByteArray pdf, const Figure& figure);

}  // namespace attnscope
