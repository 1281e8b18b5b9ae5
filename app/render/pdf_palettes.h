// Smaller pictures in the PDF files that Qt writes.
#pragma once

#include <QByteArray>

namespace attnscope {

/// The PDF with every lossless picture of at most 256 colours as one byte per pixel and a palette
/// (PDF 1.7, 8.6.6.3), where Qt writes three bytes: the same pixels in about half the bytes. `pdf`
/// is the output of QPdfWriter; pictures and files of another form are returned unchanged.
[[nodiscard]] QByteArray with_palettes(const QByteArray& pdf);

}  // namespace attnscope
