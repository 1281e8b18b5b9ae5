#include "app/panels/inputs/inputs_panel.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QResizeEvent>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>

#include "app/look/theme.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/picture.h"
#include "app/widgets/wrapped_label.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

constexpr int kThumbnail = 38;
constexpr int kPicture = 64;
constexpr int kCell = kThumbnail + 8;

/// The name of an input before it is open.
QString name_of(const std::string& locator) {
  if (is_written_out(locator)) {
    return QString::fromStdString(locator).simplified();
  }
  QStringList names;
  for (const std::filesystem::path file : picture_locators(locator)) {
    names << QString::fromStdString(file.filename().string());
  }
  return names.join(" + ");
}

}  // namespace

InputsPanel::InputsPanel(Session& session, std::vector<std::filesystem::path> samples,
                         QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), samples_(std::move(samples)) {
  picture_ = new QLabel;
  picture_->setFixedSize(kPicture, kPicture);
  picture_->setAlignment(Qt::AlignCenter);
  picture_->setObjectName("input_picture");
  name_ = new ElidedLabel;
  name_->setProperty("role", "heading");
  detail_ = new WrappedLabel;
  detail_->setObjectName("input_detail");
  detail_->setProperty("role", "muted");
  auto* words = new QVBoxLayout;
  words->setSpacing(2);
  words->addWidget(name_);
  words->addWidget(detail_);
  words->addStretch(1);
  auto* current = new QHBoxLayout;
  current->setSpacing(10);
  current->addWidget(picture_, 0, Qt::AlignTop);
  current->addLayout(words, 1);
  body()->addLayout(current);

  keep_ = add_action("pin", tr("Duplicate the selected model on this input (K)"));
  connect(keep_, &QToolButton::clicked, this,
          [this] { session_.keep_on_input(session_.selection().subject); });

  item_row_ = new QWidget;
  auto* item_layout = new QHBoxLayout(item_row_);
  item_layout->setContentsMargins(0, 0, 0, 0);
  item_ = new QSpinBox;
  item_->setRange(0, std::numeric_limits<int>::max());
  item_->setKeyboardTracking(false);
  item_->setAccessibleName(tr("Item of the data set"));
  item_layout->addWidget(new QLabel(tr("Item")));
  item_layout->addWidget(item_, 1);
  body()->addWidget(item_row_);

  const auto text_field = [this](const char* name, const QString& for_readers,
                                 const QString& placeholder, int lines) {
    auto* const field = new QPlainTextEdit;
    field->setObjectName(name);
    field->setAccessibleName(for_readers);
    field->setPlaceholderText(placeholder);
    field->setTabChangesFocus(true);
    field->setFixedHeight(lines * field->fontMetrics().lineSpacing() + 12);
    body()->addWidget(field);
    connect(field, &QPlainTextEdit::textChanged, this, [this] { typing_.start(); });
    return field;
  };
  text_ = text_field("input_text", tr("Text to run on"), {}, 4);
  text_->installEventFilter(this);
  chat_ = new QCheckBox(tr("Chat template"));
  chat_->setObjectName("input_chat");
  chat_->setToolTip(tr(
      "The text is a message to an assistant, with the marks around it that the model was trained "
      "with"));
  body()->addWidget(chat_);
  connect(chat_, &QCheckBox::toggled, this, &InputsPanel::run_on_what_is_typed);
  second_text_ = text_field("input_second_text", tr("Second text of a pair"),
                            tr("Second text, if it is a pair"), 2);
  typing_.setSingleShot(true);
  typing_.setInterval(350);
  connect(&typing_, &QTimer::timeout, this, &InputsPanel::run_on_what_is_typed);

  auto* thumbnails = new QWidget;
  // The number of columns follows the width.
  thumbnails->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  grid_ = new QGridLayout(thumbnails);
  grid_->setSpacing(4);
  grid_->setContentsMargins(0, 0, 0, 0);
  for (const std::filesystem::path& sample : samples_) {
    const QString name = QString::fromStdString(sample.stem().string()).replace('_', ' ');
    auto* thumbnail = new QToolButton;
    thumbnail->setProperty("flat", true);
    thumbnail->setFixedSize(kCell, kCell);
    thumbnail->setIconSize(QSize(kThumbnail, kThumbnail));
    pictures_.push_back(thumbnail_of(sample, kThumbnail, devicePixelRatioF()));
    thumbnail->setCheckable(true);
    thumbnail->setAccessibleName(tr("Sample input %1").arg(name));
    connect(thumbnail, &QToolButton::clicked, this,
            [this, index = thumbnails_.size()] { choose_sample(index); });
    thumbnails_.push_back(thumbnail);
  }
  body()->addWidget(thumbnails);
  body()->addStretch(1);

  auto* open = new QPushButton(tr("Open input…"));
  open->setAccessibleName(tr("Open an input"));
  open->setToolTip(
      tr("An image, a text, a sound, an array or a data set: PNG or JPEG, .txt, WAV, .npy [C, H, "
         "W] or of token "
         "ids, or an item of an IDX, HDF5, NPZ or "
         "folder data set (Ctrl+I)"));
  body()->addWidget(open);
  connect(open, &QPushButton::clicked, this, [this] { emit command_wanted("open_input"); });
  connect(item_, &QSpinBox::valueChanged, this, [this](int value) {
    const std::string& locator = session_.input_locator();
    session_.set_input(locator.substr(0, locator.rfind('#') + 1) + std::to_string(value));
  });
  connect(&session_, &Session::input_changed, this, &InputsPanel::refresh);
  connect(&session_, &Session::input_changed, this, &InputsPanel::ask_again);
  connect(&session_, &Session::subjects_changed, this, &InputsPanel::show_text_field);
  connect(&session_, &Session::subjects_changed, this, &InputsPanel::refresh);
  arrange_samples();
  refresh();
}

void InputsPanel::show_picture(bool failed) {
  const std::shared_ptr<const Input> input = session_.input();
  const double ratio = devicePixelRatioF();
  if (input && input == pictured_ && picture_->pixmap().devicePixelRatio() == ratio) return;
  pictured_ = input;
  QPixmap pixmap;
  if (input) pixmap = picture_of(*input, kPicture, ratio);
  if (pixmap.isNull()) {
    pixmap = tinted_icon(failed ? "error" : "image", colours_of(*this).muted).pixmap(32, 32);
  }
  picture_->setPixmap(pixmap);
}

void InputsPanel::refresh() {
  const std::string& locator = session_.input_locator();
  const std::size_t hash = locator.rfind('#');
  const Input* input = session_.input().get();
  const bool waits = session_.reads_pictures() && session_.has_pictures_alone();
  const bool failed = !waits && !session_.input_error().empty();
  show_picture(failed);
  picture_->setAccessibleName(tr("The input"));
  keep_->setEnabled(input != nullptr && !session_.subjects().empty());

  QString detail;
  if (locator.empty()) {
    name_->set_text(tr("No input yet"));
    detail = tr("Choose a sample below, open a file, or drop one here.");
  } else if (waits) {
    name_->set_text(name_of(locator));
    detail =
        tr("%1 pictures. Ask something about them below.").arg(picture_locators(locator).size());
  } else if (failed) {
    name_->set_text(name_of(locator));
    detail = session_.input_stopped() ? tr("Cancelled: choose it again, or resume below.")
                                      : "⚠ " + QString::fromStdString(session_.input_error());
  } else if (!input) {
    name_->set_text(name_of(locator));
    detail = tr("Opening…");
  } else {
    name_->set_text(QString::fromStdString(input->label));
    detail = describe_input(*input);
  }
  detail_->setText(detail);
  set_role(detail_, failed ? "error" : "muted");

  show_text_field();
  const bool is_part = input && (std::holds_alternative<Text>(input->content) ||
                                 std::holds_alternative<Sound>(input->content));
  const bool is_item = hash != std::string::npos && !is_part && !is_written_out(locator) &&
                       !session_.has_pictures_alone();
  item_row_->setVisible(is_item);
  if (is_item) {
    const QSignalBlocker quiet(item_);
    item_->setValue(std::atoi(locator.c_str() + hash + 1));
  }
  for (std::size_t i = 0; i < thumbnails_.size(); ++i) {
    thumbnails_[i]->setChecked(samples_[i].string() == locator);
  }
  show_readable();
}

bool InputsPanel::reads(const std::filesystem::path& sample) const {
  bool any = false;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.model) continue;
    any = true;
    const ModelSpec& spec = open.subject.model->spec();
    const bool pictures = spec.has_grid() || open.subject.model->reads_pictures();
    if (is_text_file_name(sample) ? spec.reads_texts() : pictures) return true;
  }
  return !any;  // it may be chosen before a model is open
}

void InputsPanel::show_readable() {
  for (std::size_t i = 0; i < thumbnails_.size(); ++i) {
    QToolButton& thumbnail = *thumbnails_[i];
    const QString name = QString::fromStdString(samples_[i].stem().string()).replace('_', ' ');
    const bool readable = reads(samples_[i]);
    const QString why = is_text_file_name(samples_[i]) ? tr("No open model reads texts.")
                                                       : tr("No open model reads pictures.");
    const QString tip = readable ? name : name + "\n" + why;
    if (thumbnail.toolTip() == tip) continue;
    thumbnail.setToolTip(tip);
    thumbnail.setAccessibleDescription(readable ? QString() : why);
    const QIcon icon(pictures_[i]);
    thumbnail.setIcon(readable ? icon
                               : QIcon(icon.pixmap(QSize(kThumbnail, kThumbnail),
                                                   devicePixelRatioF(), QIcon::Disabled)));
  }
}

void InputsPanel::choose_sample(std::size_t index) {
  const std::filesystem::path& sample = samples_[index];
  if (!reads(sample)) {
    const char* const reader =
        is_text_file_name(sample) ? "shakespeare-softmax" : "fashion-softmax";
    const std::vector<std::filesystem::path> models = sample_models();
    const auto found = std::ranges::find(
        models, reader, [](const std::filesystem::path& model) { return model.stem(); });
    QMenu menu(this);
    menu.setObjectName("unreadable_sample");
    menu.addAction(thumbnails_[index]->accessibleDescription())->setEnabled(false);
    QAction* const open =
        found == models.end() ? nullptr : menu.addAction(tr("Open %1 for it").arg(reader));
    QAction* const all_the_same = menu.addAction(tr("Choose it anyway"));
    const QAction* const chosen =
        menu.exec(thumbnails_[index]->mapToGlobal(QPoint(0, thumbnails_[index]->height())));
    if (chosen == nullptr) return refresh();
    if (chosen == open) session_.open(*found);
    if (chosen != open && chosen != all_the_same) return refresh();
  }
  session_.set_input(sample.string());
  refresh();
}

void InputsPanel::run_on_what_is_typed() {
  const std::string first = text_->toPlainText().toStdString();
  const std::string second = second_text_->toPlainText().trimmed().toStdString();
  if (first.empty()) return;
  if (const std::string picture = picture_asked_about(); !picture.empty()) {
    if (text_->toPlainText().trimmed().isEmpty()) return;
    return session_.set_input(question_locator(picture, first));
  }
  const char* const kind = chat_->isVisibleTo(this) && chat_->isChecked() ? "chat:" : "text:";
  session_.set_input(second.empty() ? kind + first : pair_locator(first, second));
}

std::string InputsPanel::picture_asked_about() const {
  if (!session_.reads_pictures()) return {};
  const Input* const input = session_.input().get();
  if (input && std::holds_alternative<Image>(input->content)) return session_.input_locator();
  if (session_.has_pictures_alone()) return session_.input_locator();
  const auto question = parts_of_question(session_.input_locator());
  return question ? question->first : std::string();
}

bool InputsPanel::asks() const {
  return !picture_asked_about().empty() || (chat_->isVisibleTo(this) && chat_->isChecked());
}

bool InputsPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return DockPanel::eventFilter(watched, event);
  const auto& key = static_cast<const QKeyEvent&>(*event);
  const bool enter = key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter;
  if (enter && !(key.modifiers() & Qt::ShiftModifier) && asks()) {
    typing_.stop();
    run_on_what_is_typed();
    return true;
  }
  if (key.key() == Qt::Key_Escape && typing_.isActive()) {
    take_back();
    return true;
  }
  return DockPanel::eventFilter(watched, event);
}

void InputsPanel::take_back() {
  typing_.stop();
  const Input* const input = session_.input().get();
  const bool is_text = input && std::holds_alternative<Text>(input->content);
  const QSignalBlocker quiet(*text_);
  if (!is_text) text_->clear();
  show_text_field();
}

void InputsPanel::ask_again() {
  const Input* const input = session_.input().get();
  const bool alone =
      (input && std::holds_alternative<Image>(input->content)) || session_.has_pictures_alone();
  if (alone && !picture_asked_about().empty()) run_on_what_is_typed();
}

void InputsPanel::show_text_field() {
  const Input* input = session_.input().get();
  const Text* text = input ? std::get_if<Text>(&input->content) : nullptr;
  bool wanted = text != nullptr, pairs = text != nullptr && text->second;
  for (const OpenSubject& open : session_.subjects()) {
    if (!open.subject.model) continue;
    const ModelSpec& spec = open.subject.model->spec();
    wanted |= spec.reads_texts();
    pairs |= spec.has_decoder() ||
             (spec.input.tokenizer == Tokenizer::file && !spec.is_language_model());
  }
  const bool messages = std::ranges::any_of(session_.subjects(), [](const OpenSubject& open) {
    const Transformer* const model =
        open.subject.model ? find_transformer(*open.subject.model) : nullptr;
    return model && model->vocabulary() && model->vocabulary()->has_chat();
  });
  chat_->setVisible(messages && picture_asked_about().empty());
  text_->setVisible(wanted);
  const auto pictures = picture_locators(picture_asked_about()).size();
  text_->setPlaceholderText(picture_asked_about().empty() ? tr("Type a text for the model")
                            : pictures > 1 ? tr("Ask something about the %1 pictures").arg(pictures)
                                           : tr("Ask something about the picture"));
  text_->setToolTip(asks() ? tr("Enter asks, Shift+Enter begins a new line, Esc restores the text "
                                "of the last run")
                           : QString());
  second_text_->setVisible(pairs);
  // Text that is being typed is not overwritten by the input from an earlier state.
  if (!text || typing_.isActive() || !text->ids.empty()) return;
  const bool trims = text->second.has_value();  // unchanged typed text is kept
  const auto show = [trims](QPlainTextEdit& field, const std::string& characters) {
    constexpr std::size_t most = 20'000;
    const QString shown = QString::fromStdString(characters.substr(0, most));
    const QString typed = field.toPlainText();
    if ((trims ? typed.trimmed() : typed) == shown) return;
    const QSignalBlocker quiet(field);
    field.setPlainText(shown);
  };
  show(*text_, text->characters);
  const QSignalBlocker quiet(chat_);
  chat_->setChecked(text->chat);
  show(*second_text_, text->second.value_or(""));
}

void InputsPanel::resizeEvent(QResizeEvent* event) {
  DockPanel::resizeEvent(event);
  arrange_samples();
}

void InputsPanel::arrange_samples() {
  const int columns = std::max(1, (width() - 28) / (kCell + 4));
  if (columns == columns_) return;
  columns_ = columns;
  for (QToolButton* thumbnail : thumbnails_) grid_->removeWidget(thumbnail);
  for (std::size_t i = 0; i < thumbnails_.size(); ++i) {
    const int place = static_cast<int>(i);
    grid_->addWidget(thumbnails_[i], place / columns, place % columns, Qt::AlignLeft);
  }
  for (int column = 0; column < grid_->columnCount(); ++column) grid_->setColumnStretch(column, 0);
  grid_->setColumnStretch(columns, 1);
}

}  // namespace attnscope
