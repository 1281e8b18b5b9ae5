// How the program is cited in a paper, to be copied.
#pragma once

#include <QDialog>

namespace attnscope {

/// CITATION.cff as a BibTeX entry. `cff`: its text, of lines "key: value".
[[nodiscard]] QString bibtex_of(const QString& cff);

class CiteDialog : public QDialog {
  Q_OBJECT
 public:
  explicit CiteDialog(QWidget* parent = nullptr);
};

}  // namespace attnscope
