// The list of keyboard shortcuts.
#pragma once

#include <QDialog>
#include <QList>
#include <QPair>
#include <QString>

namespace attnscope {

class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  /// `keys`: pairs of an action and its key.
  KeysDialog(const QList<QPair<QString, QString>>& keys, QWidget* parent = nullptr);
};

}  // namespace attnscope
