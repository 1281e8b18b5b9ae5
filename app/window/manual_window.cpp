#include "app/window/manual_window.h"

#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QImage>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QResizeEvent>
#include <QScopedValueRollback>
#include <QScrollBar>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

#include "analysis/papers/papers.h"
#include "app/look/theme.h"
#include "app/widgets/formula/formula_text.h"
#include "core/attention/mechanism_manual.h"

namespace attnscope {

namespace {

// The pages in reading order.
constexpr const char* kPages[] = {
    "first-minute", "models", "inputs",       "maps",    "spectra",  "what-if",
    "mechanisms",   "text",   "analyses",     "compare", "sweeps",   "energy",
    "figures",      "papers", "command-line", "lessons", "teaching", "window"};

QString page_text(const QString& page) {
  QFile file(QString(":/manual/%1.md").arg(page));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString text = QString::fromUtf8(file.readAll());
  // Generated lists replace placeholders in the text.
  const std::pair<const char*, std::string (*)()> generated[] = {
      {"{{mechanisms}}", mechanisms_as_markdown},
      {"{{mechanism settings}}", mechanism_settings_as_markdown},
      {"{{papers}}", papers_as_markdown}};
  for (const auto& [place, make] : generated) {
    if (text.contains(place)) text.replace(place, QString::fromStdString(make()));
  }
  return text;
}

/// A browser for pages of the manual in the form of page_text.
class Pages final : public QTextBrowser {
 public:
  /// The scroll bar is always visible, so all pages have equal width and pictures are scaled once.
  Pages() { setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); }

 protected:
  QVariant loadResource(int type, const QUrl& url) override {
    if (type == QTextDocument::MarkdownResource) {
      return page_text(QFileInfo(url.path()).completeBaseName()).toUtf8();
    }
    const QVariant resource = QTextBrowser::loadResource(type, url);
    return type == QTextDocument::ImageResource ? fitted(resource) : resource;
  }

  void doSetSource(const QUrl& url, QTextDocument::ResourceType type) override {
    // A scroll bar that appears or disappears while a page is loaded must not reload it.
    const QScopedValueRollback setting(setting_, true);
    QTextBrowser::doSetSource(url, type);
    const QString page = QFileInfo(source().path()).completeBaseName();
    if (source().path().endsWith(".md")) {
      show_markdown(*this, page_text(page));
      if (source().hasFragment()) scrollToAnchor(source().fragment());
    }
  }

  void resizeEvent(QResizeEvent* event) override {
    QTextBrowser::resizeEvent(event);
    // Pictures are loaded and scaled again.
    if (!setting_ && event->oldSize().width() != event->size().width()) read_again();
  }

  void changeEvent(QEvent* event) override {
    QTextBrowser::changeEvent(event);
    // Links take the palette's colour when they are read.
    if (event->type() == QEvent::PaletteChange && !setting_ && !source().isEmpty()) read_again();
  }

 private:
  bool setting_ = false;

  void read_again() {
    const int place = verticalScrollBar()->value();
    reload();
    verticalScrollBar()->setValue(place);
  }

  /// The picture, reduced to the width of the page if it is wider.
  [[nodiscard]] QVariant fitted(const QVariant& resource) const {
    QImage picture = resource.typeId() == QMetaType::QByteArray
                         ? QImage::fromData(resource.toByteArray())
                         : resource.value<QImage>();
    const int room = viewport()->width() - 2 * static_cast<int>(document()->documentMargin()) - 2;
    if (picture.isNull() || picture.width() <= room || room <= 0) return resource;
    return picture.scaledToWidth(room, Qt::SmoothTransformation);
  }
};

QString title_of(const QString& markdown) {
  return markdown.left(markdown.indexOf('\n')).mid(2).trimmed();
}

}  // namespace

ManualWindow::ManualWindow(QWidget* parent) : QWidget(parent, Qt::Window) {
  setWindowTitle(tr("Attnscope manual"));
  resize(1020, 760);
  pages_ = new QListWidget;
  pages_->setObjectName("manual_pages");
  pages_->setAccessibleName(tr("Pages of the manual"));
  for (const char* page : kPages) {
    auto* item = new QListWidgetItem(title_of(page_text(page)), pages_);
    item->setData(Qt::UserRole, QString(page));
  }
  text_ = new Pages;
  text_->setObjectName("manual_text");
  text_->setAccessibleName(tr("The page"));
  text_->setOpenExternalLinks(true);
  text_->document()->setDocumentMargin(18);
  auto* words = new QLineEdit;
  words->setObjectName("manual_words");
  words->setPlaceholderText(tr("Find in the manual"));
  words->setAccessibleName(tr("Find in the manual"));
  auto* back = new QPushButton(tr("Back"));
  back->setEnabled(false);

  auto* left = new QVBoxLayout;
  left->addWidget(words);
  left->addWidget(pages_, 1);
  left->addWidget(back);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 12, 12, 12);
  row->addLayout(left, 1);
  row->addWidget(text_, 4);
  connect(pages_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item)
      text_->setSource(QUrl(QString("qrc:/manual/%1.md").arg(item->data(Qt::UserRole).toString())));
  });
  connect(back, &QPushButton::clicked, text_, &QTextBrowser::backward);
  connect(text_, &QTextBrowser::backwardAvailable, back, &QWidget::setEnabled);
  connect(words, &QLineEdit::textChanged, this, &ManualWindow::find_words);
  pages_->setCurrentRow(0);
}

void ManualWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    close();
  } else {
    QWidget::keyPressEvent(event);
  }
}

void ManualWindow::show_page(const QString& name) {
  for (int row = 0; row < pages_->count(); ++row) {
    if (pages_->item(row)->data(Qt::UserRole) == name) pages_->setCurrentRow(row);
  }
}

void ManualWindow::find_words(const QString& words) {
  for (int row = 0; row < pages_->count(); ++row) {
    const QString page = page_text(kPages[row]);
    pages_->item(row)->setHidden(!words.isEmpty() && !page.contains(words, Qt::CaseInsensitive));
  }
}

}  // namespace attnscope
