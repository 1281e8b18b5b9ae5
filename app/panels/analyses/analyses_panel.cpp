#include "app/panels/analyses/analyses_panel.h"

#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <functional>
#include <qcustomplot.h>
#include <utility>

#include "analysis/figure/caption.h"
#include "analysis/figure/fit.h"
#include "app/panels/frame/figure_page.h"
#include "app/panels/frame/plot_instrument.h"
#include "app/panels/frame/settings_form.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/session/shown_figure.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"

namespace attnscope {

namespace {

constexpr int kAnalysesWidth = 440, kLeastPage = 240;  // pixels
constexpr int kWidestList = 620;                       // pixels of the open list
constexpr int kHighestAnalysis = 4000;                 // pixels
constexpr double kLargerThanPaper = 1.15;  // letters on the screen, relative to the figure's

/// The setting of a recipe; null if it has none of that name.
const ParameterDescription* setting_of(const std::string& recipe, std::string_view name) {
  return find_description(find_figure(recipe).settings, name);
}

/// Settings that name the selected map or query, with the values that they follow.
ParameterValues settings_selected(const std::string& recipe, const Selection& at) {
  if (find_figure(recipe).needs.subject == SubjectNeed::none) return {};
  const ParameterValues all = {{"layer", at.layer},
                               {"head", at.head},
                               {"heads", IndexRanges{{at.head, at.head}}},
                               {"query", at.query}};
  ParameterValues own;
  for (const auto& [name, value] : all) {
    const ParameterDescription* const setting = setting_of(recipe, name);
    // A setting with a word shows more than one map or query unless the user types a number; heads
    // are those of the selected layer.
    const bool heads = name == "heads" && setting_of(recipe, "layer") != nullptr;
    const bool follows = setting && (setting->words.empty() || heads);
    if (follows) own[name] = value;
  }
  return own;
}

bool any_in_progress(const Session& session) {
  return std::ranges::any_of(session.subjects(), &OpenSubject::in_progress);
}

}  // namespace

/// The figure under the controls, with its caption.
class AnalysisPage : public FigurePage {
 public:
  AnalysisPage(Session& session, std::function<FigureRequest()> wanted,
               std::function<QString(const FigureRequest&)> reason)
      : FigurePage(tr("Analysis"), std::string(figure_recipes().front().name), session,
                   std::move(wanted)),
        reason_(std::move(reason)) {
    plot().setObjectName("analyses_plot");
    caption_ = new WrappedLabel;
    caption_->setObjectName("analyses_caption");
    caption_->setAccessibleName(tr("Caption"));
    caption_->setProperty("role", "muted");
    caption_->setTextFormat(Qt::PlainText);
    caption_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    body()->addWidget(caption_);
    connect(this, &FigurePanel::drawn, this, [this] { show_caption(); });
  }

  void show_recipe(const std::string& recipe) {
    recipe_ = recipe;
    plot().setAccessibleName(QString::fromUtf8(find_figure(recipe).title));
    set_recipe(recipe);
    want();
  }

 protected:
  [[nodiscard]] QString text_instead(const FigureRequest& request) const override {
    return reason_(request);
  }
  /// A figure of a result file is quick, and the file may have grown.
  [[nodiscard]] bool is_costly() const override {
    return find_figure(recipe_).needs.subject != SubjectNeed::none;
  }
  [[nodiscard]] bool follows_room() const override { return true; }
  [[nodiscard]] bool awaits_more() const override { return any_in_progress(session()); }
  [[nodiscard]] int least_height(const Figure& figure) const override {
    const double pixels = kLargerThanPaper * figure.height_mm / mm_per_pixel;
    return std::clamp(static_cast<int>(std::lround(pixels)), FigurePage::least_height(figure),
                      kHighestAnalysis);
  }

 private:
  /// Shows the caption without the words that only a file needs.
  void show_caption() {
    std::string caption = figure()->caption;
    const std::string ending = made_with();
    if (caption.ends_with(ending)) caption.erase(caption.size() - ending.size());
    caption_->setText(QString::fromStdString(caption).trimmed());
  }

  std::function<QString(const FigureRequest&)> reason_;
  QLabel* caption_;
  std::string recipe_;
};

AnalysesPanel::AnalysesPanel(Session& session, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  set_preferred_width(kAnalysesWidth);
  export_ = add_action("export", tr("Export this figure…"));
  export_->setObjectName("analyses_export");
  export_->setEnabled(false);
  make_controls();
  page_ = new AnalysisPage(
      session_, [this] { return request(); },
      [this](const FigureRequest& request) { return reason(request); });
  page_->setMinimumHeight(kLeastPage);
  body()->addWidget(page_, 1);
  list_analyses();
  mark_possible();
  connect(list_, &QComboBox::activated, this, [this] { chosen_ = true; });
  connect(list_, &QComboBox::currentIndexChanged, this, &AnalysesPanel::take_recipe);
  connect(unfold_, &QToolButton::toggled, fields_, &QWidget::setVisible);
  connect(follow_, &QCheckBox::toggled, this, [this](bool on) {
    if (on) edited_.clear();
    follow_selection();
  });
  connect(form_, &FigureSettingsForm::edited, this, &AnalysesPanel::take_setting);
  connect(form_, &FigureSettingsForm::changed, page_, &FigurePanel::want);
  connect(page_, &FigurePanel::drawn, this, [this] { export_->setEnabled(true); });
  connect(export_, &QToolButton::clicked, page_, &FigurePanel::want_export);
  connect(&session_, &Session::subjects_changed, this, &AnalysesPanel::mark_possible);
  connect(&session_, &Session::selection_changed, this, &AnalysesPanel::follow_selection);
  take_recipe();
}

void AnalysesPanel::make_controls() {
  list_ = new ElidedComboBox;
  list_->setObjectName("analyses_list");
  list_->setAccessibleName(tr("Analysis"));
  list_->setMaxVisibleItems(30);
  // The default delegate draws the items of a menu, which have no colour of their own if disabled.
  list_->setItemDelegate(new QStyledItemDelegate(list_));
  unfold_ = tool_button("analyses_settings", tr("Settings"), tr("Settings of this analysis"));
  unfold_->setCheckable(true);
  auto* const row = new QHBoxLayout;
  row->setSpacing(6);
  row->addWidget(list_, 1);
  row->addWidget(unfold_);
  body()->addLayout(row);

  follow_ = new QCheckBox(tr("Follow the selected map"));
  follow_->setObjectName("analyses_follow");
  follow_->setToolTip(
      tr("Layer, head and query are those selected in the atlas; a value set here stays"));
  follow_->setChecked(true);
  form_ = new FigureSettingsForm;
  fields_ = new QScrollArea;
  fields_->setObjectName("analyses_fields");
  fields_->setFrameShape(QFrame::NoFrame);
  fields_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  fields_->setWidgetResizable(true);
  fields_->setWidget(form_);
  fields_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  fields_->hide();  // the figure has the space until they are asked for
  body()->addWidget(follow_);
  body()->addWidget(fields_);
}

/// The figure stays in view while its settings are changed.
void AnalysesPanel::resizeEvent(QResizeEvent* event) {
  constexpr int kLeastFields = 120;  // pixels
  fields_->setMaximumHeight(std::max(kLeastFields, height() * 2 / 5));
  DockPanel::resizeEvent(event);
}

/// Fills the list: a heading per question, which cannot be chosen, and its analyses.
void AnalysesPanel::list_analyses() {
  auto* const items = qobject_cast<QStandardItemModel*>(list_->model());
  for (const EnumName<FigureQuestion>& question : figure_question_names) {
    const int heading = list_->count();
    for (const FigureRecipe& recipe : figure_recipes()) {
      const bool is_listed = recipe.question == question.value && !recipe.has_panel;
      if (!is_listed || question.value == FigureQuestion::none) continue;
      if (list_->count() == heading) {
        list_->addItem(QString::fromUtf8(question.name));
        QStandardItem* const item = items->item(heading);
        item->setFlags(Qt::NoItemFlags);
        QFont font = item->font();
        font.setBold(true);
        item->setFont(font);
      }
      list_->addItem(QString::fromUtf8(recipe.title), QString::fromUtf8(recipe.name));
    }
  }
  list_->setCurrentIndex(std::max(1, list_->findData("logit-lens")));
}

/// Greys the analyses that no open model allows, with the reason, and shows the first possible one
/// unless the user has chosen.
void AnalysesPanel::mark_possible() {
  const FigureRequest open = request_of(session_);
  auto* const items = qobject_cast<QStandardItemModel*>(list_->model());
  int first = -1;
  for (int index = 0; index < list_->count(); ++index) {
    const std::string name = list_->itemData(index).toString().toStdString();
    if (name.empty()) continue;
    const FigureRecipe& recipe = find_figure(name);
    const QString missing = QString::fromStdString(fit_of(name, open.subjects).missing);
    const QString title = QString::fromUtf8(recipe.title);
    QStandardItem* const item = items->item(index);
    item->setEnabled(missing.isEmpty());
    item->setText(missing.isEmpty() ? title : title + " – " + missing);
    item->setToolTip(missing.isEmpty() ? QString::fromUtf8(recipe.source) : missing);
    const bool of_models = recipe.needs.subject != SubjectNeed::none;
    if (first < 0 && of_models && missing.isEmpty()) first = index;
  }
  list_->view()->setMinimumWidth(std::min(kWidestList, list_->view()->sizeHintForColumn(0) + 24));
  const bool shows_one = items->item(list_->currentIndex())->isEnabled();
  if (!chosen_ && !shows_one && first >= 0) list_->setCurrentIndex(first);
}

bool AnalysesPanel::show_page(const std::string& page) {
  const int index = list_->findData(QString::fromStdString(page));
  if (index < 0) return false;
  chosen_ = true;
  list_->setCurrentIndex(index);
  return true;
}

std::string AnalysesPanel::recipe() const { return list_->currentData().toString().toStdString(); }

const Figure* AnalysesPanel::figure() const { return page_->figure(); }

bool AnalysesPanel::is_behind() const { return page_->is_behind(); }

void AnalysesPanel::take_recipe() {
  if (!shown_recipe_.empty()) kept_[shown_recipe_] = form_->settings();
  shown_recipe_ = recipe();
  edited_.clear();
  const FigureRecipe& chosen = find_figure(shown_recipe_);
  const ParameterValues& kept = kept_[shown_recipe_];
  form_->show_recipe(chosen, kept);
  const ParameterValues follows = settings_selected(shown_recipe_, session_.selection());
  follow_->setVisible(!follows.empty());
  // The settings are open while a file is to be chosen, and where they are all that is drawn.
  const bool asks = chosen.needs.setting.empty() ? chosen.needs.subject == SubjectNeed::none
                                                 : !kept.contains(chosen.needs.setting);
  if (asks != opened_ && (opened_ || !unfold_->isChecked())) {
    opened_ = asks;
    unfold_->setChecked(asks);
  }
  follow_selection();
  page_->show_recipe(shown_recipe_);
}

/// A setting that the user changes follows the selection only if it is set to what is selected.
void AnalysesPanel::take_setting(const std::string& name) {
  const ParameterValues follows = settings_selected(recipe(), session_.selection());
  const ParameterValues now = form_->settings();
  const auto followed = follows.find(name), own = now.find(name);
  const bool as_selected =
      followed != follows.end() &&
      followed->second ==
          (own != now.end() ? own->second : setting_of(recipe(), name)->default_value);
  if (as_selected) {
    edited_.erase(name);
  } else {
    edited_.insert(name);
  }
}

void AnalysesPanel::follow_selection() {
  if (follow_->isChecked()) {
    for (const auto& [name, value] : settings_selected(recipe(), session_.selection())) {
      if (!edited_.contains(name)) form_->set_value(name, value);
    }
  }
  page_->want();
}

FigureRequest AnalysesPanel::request() const {
  const FigureRequest open = request_of(session_);
  const ParameterValues settings = form_->settings();
  FigureFit fit = fit_of(recipe(), open.subjects, settings);
  if (fit.most > 0 && fit.subjects.size() > fit.most) {
    const std::shared_ptr<const Trace> own = session_.trace(session_.selection().subject);
    std::stable_partition(fit.subjects.begin(), fit.subjects.end(),
                          [&](std::size_t index) { return open.subjects[index].trace == own; });
    fit.subjects.resize(fit.most);
  }
  FigureRequest request = with_subjects(open, fit.subjects);
  request.settings = settings;
  // A figure of all queries shows only that under the cursor, in whichever view the cursor is.
  const ParameterDescription* const query = setting_of(recipe(), "query");
  const bool of_all = query && !query->words.empty() && !settings.contains("query");
  if (of_all && follow_->isChecked() && !request.subjects.empty()) {
    for (const OpenSubject& one : session_.subjects()) {
      if (one.subject.trace != request.subjects.front().trace) continue;
      const std::optional<HoveredTokens> hovered = hovered_tokens(session_, one.id);
      if (hovered && hovered->query) request.settings["query"] = *hovered->query;
    }
  }
  return request;
}

QString AnalysesPanel::reason(const FigureRequest& request) const {
  const bool of_models = find_figure(recipe()).needs.subject != SubjectNeed::none;
  if (of_models && !figure() && any_in_progress(session_)) return tr("Computing…");
  const FigureFit fit = fit_of(recipe(), request.subjects, request.settings);
  if (!fit.missing.empty()) {
    return tr("This analysis %1.").arg(QString::fromStdString(fit.missing));
  }
  if (!fit.unset.empty()) {
    return tr("This analysis %1: choose it above.").arg(QString::fromStdString(fit.unset));
  }
  return {};
}

}  // namespace attnscope
