#include "app/window/cite_dialog.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "app/look/theme.h"

namespace attnscope {

namespace {

/// The first value of the key, without quotes.
QString cff_value(const QString& cff, const QString& key) {
  const QRegularExpression line("^[ -]*" + key + ":[ ]*\"?([^\"\n]*)\"?[ ]*$",
                                QRegularExpression::MultilineOption);
  return line.match(cff).captured(1).trimmed();
}

}  // namespace

QString bibtex_of(const QString& cff) {
  return QString(
             "@software{attnscope,\n"
             "  author  = {{%1}},\n"
             "  title   = {%2},\n"
             "  version = {%3},\n"
             "  year    = {%4},\n"
             "  license = {%5}\n"
             "}")
      .arg(cff_value(cff, "name"), cff_value(cff, "title"), cff_value(cff, "version"),
           cff_value(cff, "date-released").left(4), cff_value(cff, "license"));
}

CiteDialog::CiteDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("How to cite"));
  QFile file(":/CITATION.cff");
  const QString cff =
      file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
  auto* words = new QLabel(
      tr("Cite the program, and the paper of the mechanism or measure that you show: the captions "
         "of exported figures and the manual's page of mechanisms name it."));
  words->setWordWrap(true);
  auto* entry = new QPlainTextEdit(bibtex_of(cff));
  entry->setObjectName("citation");
  entry->setAccessibleName(tr("BibTeX entry"));
  entry->setReadOnly(true);
  entry->setFont(number_font(font()));
  entry->setLineWrapMode(QPlainTextEdit::NoWrap);
  const QFontMetrics metrics(entry->font());
  constexpr int kLines = 8, kAround = 40, kLetters = 66;
  entry->setMinimumSize(kLetters * metrics.averageCharWidth() + kAround,
                        kLines * metrics.lineSpacing() + kAround / 2);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  QPushButton* const copy = buttons->addButton(tr("Copy"), QDialogButtonBox::ActionRole);
  copy->setObjectName("copy_citation");
  copy->setProperty("primary", true);
  connect(copy, &QPushButton::clicked, this, [entry, copy] {
    QGuiApplication::clipboard()->setText(entry->toPlainText());
    copy->setText(tr("Copied ✓"));
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 18, 20, 16);
  column->setSpacing(12);
  column->addWidget(words);
  column->addWidget(entry, 1);
  column->addWidget(buttons);
}

}  // namespace attnscope
