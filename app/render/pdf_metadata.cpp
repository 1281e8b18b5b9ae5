#include "app/render/pdf_metadata.h"

#include <QString>
#include <map>
#include <string>

#include "analysis/figure/provenance.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// A PDF text string: UTF-16, big endian, in hexadecimal.
QByteArray text_string(const QString& text) {
  QByteArray bytes = "<FEFF";
  for (const QChar c : text) {
    bytes += QByteArray::number(c.unicode(), 16).rightJustified(4, '0');
  }
  return bytes + ">";
}

/// The number after the last `key`, as in "/Size 20".
QByteArray last_number(const QByteArray& pdf, const char* key) {
  const qsizetype start = pdf.lastIndexOf(key);
  qsizetype end =
      start < 0 ? -1 : start + static_cast<qsizetype>(std::char_traits<char>::length(key));
  const qsizetype first = end;
  while (end >= 0 && end < pdf.size() && pdf[end] >= '0' && pdf[end] <= '9') ++end;
  if (end <= first) {
    throw Error(ErrorKind::io, "the structure of the PDF that Qt wrote is unknown").about(key);
  }
  return pdf.mid(first, end - first);
}

/// Overwrites the creation date with blanks, to keep the offsets in the file's table valid.
void blank_date(QByteArray& pdf) {
  const qsizetype start = pdf.indexOf("/CreationDate (");
  const qsizetype end = start < 0 ? -1 : pdf.indexOf(')', start);
  if (end > start) pdf.replace(start, end + 1 - start, QByteArray(end + 1 - start, ' '));
}

}  // namespace

QByteArray with_provenance(QByteArray pdf, const Figure& figure) {
  static const std::map<std::string, const char*> names = {{"Title", "Title"},
                                                           {"Description", "Subject"},
                                                           {"Models", "Keywords"},
                                                           {"Software", "Creator"},
                                                           {"Command", "Command"}};
  blank_date(pdf);
  const QByteArray objects = last_number(pdf, "/Size ");
  const QByteArray information = last_number(pdf, "/Info ");
  const QByteArray root = last_number(pdf, "/Root ");
  const QByteArray table = last_number(pdf, "startxref\n");

  const QByteArray place = QByteArray::number(pdf.size()).rightJustified(10, '0');
  pdf += information + " 0 obj\n<<\n";
  for (const auto& [name, text] : provenance_of(figure)) {
    pdf +=
        QByteArray("/") + names.at(name) + " " + text_string(QString::fromStdString(text)) + "\n";
  }
  pdf += "/Producer (Qt " QT_VERSION_STR ")\n>>\nendobj\n";
  const QByteArray own_table = QByteArray::number(pdf.size());
  pdf += "xref\n" + information + " 1\n" + place + " 00000 n \n";
  pdf += "trailer\n<<\n/Size " + objects + "\n/Info " + information + " 0 R\n/Root " + root +
         " 0 R\n/Prev " + table + "\n>>\nstartxref\n" + own_table + "\n%%EOF\n";
  return pdf;
}

}  // namespace attnscope
