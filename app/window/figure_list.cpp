#include "app/window/figure_list.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QStandardItemModel>
#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/figure/fit.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

namespace {

struct Question {
  const char* title;
  std::vector<std::string_view> figures;
};

std::span<const Question> questions() {
  static const std::vector<Question> list = {
      {QT_TRANSLATE_NOOP("FigureList", "How do the maps look?"),
       {"attention-maps", "attention-overlay", "components", "token-importance", "hash-codes",
        "position-bias", "key-maps"}},
      {QT_TRANSLATE_NOOP("FigureList", "What rank do they have?"),
       {"cumulative-spectrum", "rank-by-layer", "rank-over-depth"}},
      {QT_TRANSLATE_NOOP("FigureList", "What do the heads do?"),
       {"heads-by-layer", "heads-over-depth", "head-similarity", "token-mixing",
        "tokens-over-depth"}},
      {QT_TRANSLATE_NOOP("FigureList", "What does the answer rest on?"),
       {"logit-lens", "logit-attribution", "relevance", "feature-scatter"}},
      {QT_TRANSLATE_NOOP("FigureList", "What is lost without it?"), {"rank-accuracy", "ablation"}},
      {QT_TRANSLATE_NOOP("FigureList", "How do models differ?"),
       {"comparison", "spectrum-comparison", "rank-comparison"}},
      {QT_TRANSLATE_NOOP("FigureList", "Does it hold for many inputs?"),
       {"sweep-spectrum", "sweep-ranks", "sweep-quantities"}},
      {QT_TRANSLATE_NOOP("FigureList", "How does it change in training?"),
       {"over-training", "trained-ranks"}},
      {QT_TRANSLATE_NOOP("FigureList", "What does it cost?"),
       {"energy-breakdown", "energy-share", "energy-growth", "operations-table",
        "mechanism-costs"}}};
  return list;
}

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
  std::vector<std::string_view> others;
  for (const FigureRecipe& recipe : figure_recipes()) {
    const bool asked = std::ranges::any_of(questions(), [&](const Question& question) {
      return std::ranges::find(question.figures, recipe.name) != question.figures.end();
    });
    if (!asked && recipe.needs_as_set == nullptr) others.push_back(recipe.name);
  }
  const auto add = [&](const char* title, const std::vector<std::string_view>& figures) {
    entries.push_back({QCoreApplication::translate("FigureList", title), {}, true});
    for (const std::string_view name : figures) {
      entries.push_back(entry_of(find_figure(name), open));
    }
  };
  for (const Question& question : questions()) add(question.title, question.figures);
  if (!others.empty()) add(QT_TRANSLATE_NOOP("FigureList", "Further figures"), others);
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
    items->item(index)->setEnabled(!is_question && entry.fits);
  }
}

}  // namespace attnscope
