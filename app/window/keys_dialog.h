// The list of keys.
#pragma once

#include <QDialog>
#include <QList>
#include <QPair>
#include <QString>

namespace attnscope {

class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  /// Pairs of what happens and by which key.
  KeysDialog(const QList<QPair<QString, QString>>& keys, QWidget* parent = nullptr);
};

}  // namespace attnscope
