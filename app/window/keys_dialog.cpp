#include "app/window/keys_dialog.h"

#include <QGridLayout>
#include <QLabel>

#include "app/look/theme.h"

namespace attnscope {

KeysDialog::KeysDialog(const QList<QPair<QString, QString>>& keys, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle(tr("Keys"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(24, 20, 24, 20);
  grid->setHorizontalSpacing(14);
  grid->setVerticalSpacing(7);
  const int rows = static_cast<int>((keys.size() + 1) / 2);
  for (int i = 0; i < keys.size(); ++i) {
    auto* key = new QLabel(keys[i].second);
    key->setFont(number_font(font()));
    key->setObjectName("key");
    key->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* what = new QLabel(keys[i].first);
    const int column = i / rows * 3;
    grid->addWidget(key, i % rows, column);
    grid->addWidget(what, i % rows, column + 1);
  }
  grid->setColumnMinimumWidth(2, 20);
}

}  // namespace attnscope
