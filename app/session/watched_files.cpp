#include "app/session/watched_files.h"

#include <QTime>
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

QString clock_time() { return QTime::currentTime().toString("HH:mm"); }

/// The subjects that were read from `file`, one for each model: overlays follow it.
std::vector<SubjectId> read_from(const Session& session, const fs::path& file) {
  std::vector<SubjectId> subjects;
  std::set<std::shared_ptr<const Model>> models;
  for (const OpenSubject& open : session.subjects()) {
    if (!open.is_of_file || open.file != file) continue;
    const bool is_overlay = open.subject.model && !models.insert(open.subject.model).second;
    if (!is_overlay) subjects.push_back(open.id);
  }
  return subjects;
}

}  // namespace

WatchedFiles::WatchedFiles(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::subjects_changed, this, &WatchedFiles::follow_subjects);
  connect(&watch_, &FileWatch::changed, this, &WatchedFiles::take_change);
  follow_subjects();
}

void WatchedFiles::follow_subjects() {
  std::set<fs::path> wanted;
  for (const OpenSubject& open : session_.subjects()) {
    if (open.is_of_file && !open.file.empty()) wanted.insert(open.file);
  }
  for (const fs::path& file : watch_.paths()) {
    if (!wanted.contains(file)) watch_.forget(file);
  }
  for (const fs::path& file : wanted) watch_.watch(file);
}

void WatchedFiles::take_change(const fs::path& file, bool exists) {
  if (exists) return read(file);
  for (const SubjectId subject : read_from(session_, file)) {
    session_.set_file_change(
        subject, tr("the file was removed at %1").arg(clock_time()).toStdString(), true);
  }
}

void WatchedFiles::read(const fs::path& file) {
  // Contents read while the file changed once more are dropped: that change is reported, too.
  const auto is_current = [this, file, reading = ++readings_[file]] {
    return readings_[file] == reading && watch_.is_as_known(file);
  };
  for (const SubjectId subject : read_from(session_, file)) {
    const OpenSubject& open = *session_.find(subject);
    if (open.state == OpenSubject::State::failed && open.stopped) continue;
    // Nothing is shown that could stay.
    if (open.state == OpenSubject::State::loading || open.state == OpenSubject::State::failed) {
      session_.reload(subject);
      continue;
    }
    session_.jobs().submit(
        tr("Reading %1 again").arg(QString::fromStdString(file.filename().string())),
        [this, subject, file, is_current,
         options = open.options](const Progress& progress) -> JobQueue::Delivery {
          FileContents contents;
          if (is_trace_file(file)) {
            contents.trace = std::make_shared<const Trace>(read_trace(file));
          } else {
            contents.model = load_model(file, options, progress);
          }
          return [this, subject, file, contents, is_current] {
            const OpenSubject* const still = session_.find(subject);
            if (!still || still->file != file || !is_current()) return;
            session_.take_contents(subject, contents,
                                   tr("read again %1").arg(clock_time()).toStdString());
          };
        },
        [this, subject, is_current](const JobFailure& failure) {
          if (failure.cancelled || !is_current()) return;
          session_.set_file_change(
              subject,
              tr("the file changed at %1 and cannot be read; shown is what it held "
                 "before: ")
                      .arg(clock_time())
                      .toStdString() +
                  failure.what,
              true);
        },
        this);
  }
}

}  // namespace attnscope
