#include "app/window/figure_list.h"

#include <QComboBox>
#include <QStandardItemModel>

#include "analysis/figure/fit.h"
#include "analysis/figure/recipe.h"
#include "app/look/theme.h"

namespace attnscope {

namespace {

FigureEntry entry_of(const FigureRecipe& recipe, const std::vector<Subject>& open) {
  // Required settings are asked for in a form, so only the models are checked here.
  const FigureFit fit = fit_of(recipe.name, open);
  const QString title = QString::fromUtf8(recipe.title);
  if (fit.missing.empty()) return {title, std::string(recipe.name), true};
  return {QString("%1 – %2").arg(title, QString::fromUtf8(fit.missing)), std::string(recipe.name),
          false};
}

}  // namespace

QList<FigureEntry> figures_by_question(const std::vector<Subject>& open) {
  QList<FigureEntry> entries;
  for (const auto& [question, title] : figure_question_names) {
    if (question == FigureQuestion::none) continue;
    entries.push_back({QString::fromUtf8(title), {}, true});
    for (const FigureRecipe& recipe : figure_recipes()) {
      if (recipe.question == question) entries.push_back(entry_of(recipe, open));
    }
  }
  return entries;
}

void fill_figures(QComboBox& list, const QList<FigureEntry>& entries) {
  auto* const items = qobject_cast<QStandardItemModel*>(list.model());
  QFont bold = list.font();
  bold.setBold(true);
  for (const FigureEntry& entry : entries) {
    const bool is_question = entry.recipe.empty();
    list.addItem(entry.title, QString::fromStdString(entry.recipe));
    const int index = list.count() - 1;
    if (is_question) list.setItemData(index, bold, Qt::FontRole);
    if (!entry.fits) list.setItemData(index, colours_of(list).muted, Qt::ForegroundRole);
    items->item(index)->setEnabled(!is_question && entry.fits);
  }
}

}  // namespace attnscope
