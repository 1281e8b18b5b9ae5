#include "app/panels/frame/figure_page.h"

#include <QVBoxLayout>
#include <qcustomplot.h>
#include <utility>

#include "app/widgets/table_view.h"

namespace attnscope {

FigurePage::FigurePage(const QString& title, const std::string& recipe, Session& session,
                       std::function<FigureRequest()> wanted, QWidget* parent)
    : FigurePanel(title, recipe, session, parent), wanted_(std::move(wanted)) {
  // The enclosing panel has the title.
  header()->setParent(this);
  header()->hide();
  body()->setContentsMargins(0, 0, 0, 0);
  table_ = new TableView;
  table_->setObjectName(QString::fromStdString(recipe) + "_table");
  table_->setAccessibleName(title);
  table_->hide();
  body()->addWidget(table_, 1);
  connect(this, &FigurePanel::drawn, this, &FigurePage::show_table);
}

void FigurePage::show_table() {
  const bool is_table = figure()->table.has_value();
  table_->setVisible(is_table);
  plot().setVisible(!is_table);
  if (is_table) table_->set_table(*figure()->table);
}

QString FigurePage::empty_text() const { return tr("Open a model."); }

}  // namespace attnscope
