// The window's files: opening, dropping, saving, and everything kept between runs.
#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QDragLeaveEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>
#include <algorithm>

#include "app/panels/frame/dock_panel.h"
#include "app/panels/frame/highlight.h"
#include "app/session/autosave.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/widgets/file_to_save.h"
#include "app/window/dropped_file.h"
#include "app/window/enlargement.h"
#include "app/window/first_minute.h"
#include "app/window/layouts.h"
#include "app/window/main_window.h"
#include "app/window/notice_bar.h"
#include "app/window/panel_docks.h"
#include "app/window/recent_files.h"
#include "app/window/recovery.h"
#include "core/checkpoint/format.h"
#include "core/error.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

constexpr const char* kLastSession = "last-session.json";

/// "*.safetensors *.gguf …": the extensions of all weight formats, which include those of traces.
QString weight_file_patterns() {
  QStringList patterns;
  for (const CheckpointFormat& format : checkpoint_formats()) {
    const auto extensions =
        QString::fromUtf8(format.extensions.data(), std::ssize(format.extensions));
    for (const QString& extension : extensions.split(' ')) patterns << "*" + extension;
  }
  return patterns.join(' ');
}

/// True for a folder that opens as a whole: that of a model or of a training.
bool opens_whole(const QString& path) {
  return QFileInfo(path).isDir() && use_of(path.toStdString()) != FileUse::input;
}

/// Opens the folder of a model or a training as well as files, and enters any other folder. The
/// desktop's own dialogs choose either files or folders.
class OpenDialog final : public QFileDialog {
 public:
  OpenDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter)
      : QFileDialog(parent, title, folder, filter) {
    setOption(DontUseNativeDialog);
    setOption(HideNameFilterDetails);  // the list of patterns is longer than the dialog is wide
    setFileMode(ExistingFiles);
  }

 protected:
  void accept() override {
    const QStringList chosen = selectedFiles();
    const bool has_whole = std::ranges::any_of(chosen, opens_whole);
    const bool all_open = std::ranges::all_of(
        chosen, [](const QString& path) { return QFileInfo(path).isFile() || opens_whole(path); });
    has_whole&& all_open ? done(Accepted) : QFileDialog::accept();
  }
};

/// The local files among these.
std::vector<std::filesystem::path> files_of(const QList<QUrl>& urls) {
  std::vector<std::filesystem::path> files;
  for (const QUrl& url : urls) {
    if (url.isLocalFile()) files.emplace_back(url.toLocalFile().toStdString());
  }
  return files;
}

/// True for several pictures if an open model reads pictures with a text.
bool are_one_input(const std::vector<std::filesystem::path>& files, const Session& session) {
  return session.reads_pictures() && are_pictures(files);
}

/// Makes one input of several pictures if an open model reads pictures with a text; otherwise
/// false.
bool open_as_one(const std::vector<std::filesystem::path>& files, Session& session) {
  if (!are_one_input(files, session)) return false;
  session.set_input(pictures_locator({files.begin(), files.end()}));
  return true;
}

/// A sentence about the effect of dropping these files.
QString drop_text(const QList<QUrl>& urls, const Session& session) {
  if (are_one_input(files_of(urls), session)) {
    return MainWindow::tr("Drop to ask something about these %1 pictures").arg(urls.size());
  }
  if (urls.size() > 1) return MainWindow::tr("Drop to open %1 files").arg(urls.size());
  if (!urls.value(0).isLocalFile()) return MainWindow::tr("Only files on this machine open here");
  const QFileInfo file(QDir::cleanPath(urls.value(0).toLocalFile()));
  switch (use_of(file.filePath().toStdString())) {
    case FileUse::input:
      return MainWindow::tr("Drop to use %1 as input").arg(file.fileName());
    case FileUse::session:
      return MainWindow::tr("Drop to restore the session %1").arg(file.fileName());
    case FileUse::training:
      return MainWindow::tr("Drop to open the training %1").arg(file.fileName());
    case FileUse::model:
      return MainWindow::tr("Drop to open the model %1").arg(file.fileName());
  }
  return {};
}

}  // namespace

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!std::ranges::all_of(findChildren<DockPanel*>(), &DockPanel::may_close)) {
    return event->ignore();
  }
  if (presenting_) toggle_presentation();
  enlargement_->leave();
  if (!remembered_.empty()) {
    docks_->restore_sides();
    layouts_->remember_last();
    try {
      session_.save(remembered_ / kLastSession);
    } catch (const Error&) {
      // Closing must not fail because of a convenience.
    }
  }
  session_.jobs().cancel_all();
  QMainWindow::closeEvent(event);
}

void MainWindow::remember_between_runs(const std::filesystem::path& folder) {
  remembered_ = folder;
  const std::vector<std::filesystem::path> left = Autosave::left_behind(folder);
  autosave_ = new Autosave(session_, folder, this);
  recovery_ = new Recovery(left, *autosave_, *notice_, [this](const std::filesystem::path& file) {
    return restore_unnamed(file);
  });
}

bool MainWindow::remembers_last(const std::filesystem::path& folder) {
  std::error_code ignored;
  return !folder.empty() && std::filesystem::exists(folder / kLastSession, ignored);
}

bool MainWindow::reopen_last() {
  return remembers_last(remembered_) && restore_unnamed(remembered_ / kLastSession);
}

void MainWindow::open_file(const std::filesystem::path& file) {
  switch (use_of(file)) {
    case FileUse::input:
      session_.set_input(input_locator_of(file));
      return;
    case FileUse::session:
      restore_session(file);
      return;
    case FileUse::training:
      recent_->add(file);
      docks_->open_document(file);
      return;
    case FileUse::model:
      recent_->add(file);
      session_.open(file);
      return;
  }
}

void MainWindow::open_samples() {
  if (open_first_minute(session_)) return;
  notice_->show_error(
      tr("The sample data is not installed; set ATTNSCOPE_SAMPLE_DATA to the "
         "folder sample_data of the source tree."));
}

void MainWindow::show_first_minute() {
  if (session_.subjects().size() < 2) open_samples();
  if (!session_.subjects().empty()) first_minute_->begin();
}

void MainWindow::open_session(const std::filesystem::path& file) {
  session_.restore(file);
  session_file_ = file;
  recent_->add(file);
  setWindowTitle(QString::fromStdString(file.stem().string()) + " – Attnscope");
}

void MainWindow::restore_session(const std::filesystem::path& file) {
  try {
    open_session(file);
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
  }
}

bool MainWindow::restore_unnamed(const std::filesystem::path& file) {
  try {
    session_.restore(file);
    return true;
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
    return false;
  }
}

void MainWindow::ask_for_model() {
  OpenDialog dialog(this, tr("Open models or traces: files, or folders of a model"),
                    QSettings().value("model_folder").toString(),
                    tr("Weights and traces (%1);;All files (*)").arg(weight_file_patterns()));
  if (dialog.exec() != QDialog::Accepted) return;
  for (const QString& file : dialog.selectedFiles()) {
    QSettings().setValue("model_folder", QFileInfo(file).absolutePath());
    const std::filesystem::path path = file.toStdString();
    if (QFileInfo(file).isDir()) {
      open_file(path);
      continue;
    }
    recent_->add(path);
    session_.open(path);
  }
}

void MainWindow::ask_for_input() {
  const QStringList chosen = QFileDialog::getOpenFileNames(
      this, tr("Open an input, or several pictures for one text"),
      QSettings().value("input_folder").toString(),
      tr("Images, texts, sounds, arrays, data sets (*.png *.jpg *.jpeg *.txt *.md *.wav *.npy "
         "*.npz "
         "*.h5 *.hdf5 *.gz);;All files "
         "(*)"),
      nullptr, QFileDialog::HideNameFilterDetails);
  if (chosen.isEmpty()) return;
  QSettings().setValue("input_folder", QFileInfo(chosen.front()).absolutePath());
  std::vector<std::filesystem::path> files;
  for (const QString& file : chosen) files.emplace_back(file.toStdString());
  if (!open_as_one(files, session_)) session_.set_input(input_locator_of(files.front()));
}

void MainWindow::ask_for_folder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Open a folder with one folder a class"),
                                        QSettings().value("input_folder").toString());
  if (folder.isEmpty()) return;
  QSettings().setValue("input_folder", folder);
  session_.set_input(input_locator_of(folder.toStdString()));
}

void MainWindow::ask_for_watched_folder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("A folder that a training writes checkpoints to"),
                                        QSettings().value("training_folder").toString());
  if (folder.isEmpty()) return;
  QSettings().setValue("training_folder", folder);
  recent_->add(folder.toStdString());
  docks_->open_document(folder.toStdString());
}

void MainWindow::ask_for_remote() {
  bool accepted = false;
  const QString address =
      QInputDialog::getText(
          this, tr("Open a model on another machine"),
          tr("Address, as ssh://host/folder/model. The program must be installed there. Settings "
             "may follow,\nas in ssh://host/folder/model@adder,identity=true or "
             "…/model@,option.heads=3."),
          QLineEdit::Normal, QSettings().value("remote_model", "ssh://").toString(), &accepted)
          .trimmed();
  if (!accepted || address.isEmpty()) return;
  QSettings().setValue("remote_model", address);
  emit remote_wanted(address);
}

/// Adds the sample models, each with a suitable input if none is chosen.
void MainWindow::fill_samples(QMenu& menu) {
  menu.addAction(tr("Open first comparison"), this, &MainWindow::open_samples);
  menu.addSeparator();
  for (const std::filesystem::path& model : sample_models()) {
    const std::string name = model.stem().string();
    menu.addAction(QString::fromStdString(name), this, [this, model] {
      const std::string input = sample_input_for(model);
      if (session_.input_locator().empty() && !input.empty()) session_.set_input(input);
      session_.open(model);
    });
  }
  menu.setEnabled(!sample_models().empty());
}

void MainWindow::save_session(bool ask) {
  std::filesystem::path file = session_file_;
  if (ask || file.empty()) {
    file =
        file_to_save(this, tr("Save the session"), "session.json", tr("Sessions (*.json)"), ".json")
            .toStdString();
    if (file.empty()) return;
  }
  try {
    // An existing session may be replaced, but not another file that was read, such as a
    // configuration.
    if (file != session_file_ && use_of(file) != FileUse::session) refuse_to_overwrite_read(file);
    session_.save(file);
    session_file_ = file;
    recent_->add(file);
    statusBar()->showMessage(tr("Saved %1").arg(QString::fromStdString(file.string())), 4000);
    setWindowTitle(QString::fromStdString(file.stem().string()) + " – Attnscope");
  } catch (const Error& error) {
    notice_->show_error(QString::fromStdString(error.what()));
  }
}

void MainWindow::ask_for_session() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Restore a session"), QString(),
                                                    tr("Sessions (*.json)"));
  if (!file.isEmpty()) restore_session(file.toStdString());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (!event->mimeData()->hasUrls()) return;
  drop_highlight_->show_text(drop_text(event->mimeData()->urls(), session_));
  event->acceptProposedAction();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) { drop_highlight_->clear(); }

void MainWindow::dropEvent(QDropEvent* event) {
  drop_highlight_->clear();
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) continue;
    notice_->show_error(tr("Only files on this machine can be dropped: %1").arg(url.toString()));
  }
  const std::vector<std::filesystem::path> files = files_of(event->mimeData()->urls());
  if (!open_as_one(files, session_)) {
    for (const std::filesystem::path& file : files) open_file(file);
  }
  event->acceptProposedAction();
}

}  // namespace attnscope
