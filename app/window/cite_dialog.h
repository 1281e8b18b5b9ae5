// A dialog with the program's citation to copy.
#pragma once

#include <QDialog>

namespace attnscope {

/// CITATION.cff as a BibTeX entry. `cff`: text of the file, with lines "key: value".
[[nodiscard]] QString bibtex_of(const QString& cff);

class CiteDialog : public QDialog {
  Q_OBJECT
 public:
  explicit CiteDialog(QWidget* parent = nullptr);
};

}  // namespace attnscope
