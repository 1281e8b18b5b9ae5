// Comparisons of every open subject with the reference, computed in the background whenever
// traces or settings change, and kept.
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "analysis/comparison/comparison.h"
#include "app/session/subject_id.h"

namespace attnscope {

class Session;

/// Lives on the window's thread, next to its session. Computes nothing unless a reference is
/// pinned, or compare_unpinned() was called and two subjects are open.
class ComparisonStore : public QObject {
  Q_OBJECT
 public:
  explicit ComparisonStore(Session& session, QObject* parent = nullptr);

  /// Sets the compared matrix; the default is the map.
  void set_analysed(const MatrixChoice& analysed);
  /// Compares with the first subject while none is pinned.
  void compare_unpinned();
  /// The subject that the others are compared with; none if there is none.
  [[nodiscard]] SubjectId reference() const;
  /// Discards all results and cancels running jobs.
  void stop();

  /// The options of the current comparisons.
  [[nodiscard]] ComparisonOptions options() const;

  /// The comparison of a subject under the session's settings; null while it is unknown, and for
  /// the reference.
  [[nodiscard]] std::shared_ptr<const SubjectComparison> comparison(SubjectId subject) const;
  /// The alignment of a subject's maps with those of the reference: by index until matched heads
  /// are known. Null without a reference, or if one of the two has no trace.
  [[nodiscard]] std::shared_ptr<const MapAlignment> alignment(SubjectId subject) const;
  /// The error of a subject's comparison; empty if there is none.
  [[nodiscard]] std::string error_of(SubjectId subject) const;
  /// True if the user cancelled a comparison before it was complete.
  [[nodiscard]] bool is_stopped() const;
  /// Restarts cancelled comparisons.
  void resume();
  /// True if nothing is being computed.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();  ///< comparisons or alignments were added or removed

 private:
  struct Entry {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const MapAlignment> alignment;
    std::shared_ptr<const SubjectComparison> comparison;
    std::string error;
    bool stopped = false;
    std::int64_t job = 0;
  };
  void refresh();
  void compare(SubjectId subject);
  void forget(Entry& entry);
  [[nodiscard]] Subject with_trace(SubjectId subject,
                                   const std::shared_ptr<const Trace>& trace) const;
  [[nodiscard]] const Entry* entry(SubjectId subject) const;

  Session& session_;
  MatrixChoice analysed_;
  bool unpinned_ = false;                  // compares while no reference is pinned
  QTimer delay_;                           // one job per gesture while a threshold is dragged
  std::shared_ptr<const Trace> compared_;  // the trace that entries are compared with
  ComparisonOptions options_;              // the options of that comparison
  std::map<SubjectId, Entry> entries_;
};

}  // namespace attnscope
