// Every open subject compared with the pinned reference: computed in the background as traces and
// settings change, and kept.
#pragma once

#include <QObject>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "analysis/comparison/comparison.h"

namespace attnscope {

class Session;

/// Lives as a child of the session, so that atlases and panels find it. Computes nothing while no
/// reference is pinned.
class ComparisonStore : public QObject {
  Q_OBJECT
 public:
  /// The session's store, made by whoever asks first.
  static ComparisonStore& of(Session& session);

  /// Of a subject, under the session's settings; null while it is not known, and for the reference.
  [[nodiscard]] std::shared_ptr<const SubjectComparison> comparison(std::int64_t subject) const;
  /// Which of the reference's maps each of a subject's is beside: by index until matched heads are
  /// known. Null without a reference, or where one of the two has no trace.
  [[nodiscard]] std::shared_ptr<const MapAlignment> alignment(std::int64_t subject) const;
  /// Why a comparison is not known; empty if nothing is wrong.
  [[nodiscard]] std::string error_of(std::int64_t subject) const;
  /// Nothing is being computed.
  [[nodiscard]] bool settled() const;

 signals:
  void changed();  ///< comparisons or alignments are new, or gone

 private:
  explicit ComparisonStore(Session& session);

  struct Entry {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const MapAlignment> alignment;
    std::shared_ptr<const SubjectComparison> comparison;
    std::string error;
    std::int64_t job = 0;
  };
  void refresh();
  void compare(std::int64_t subject);
  void forget(Entry& entry);
  [[nodiscard]] const Entry* entry(std::int64_t subject) const;
  [[nodiscard]] ComparisonOptions options() const;

  Session& session_;
  QTimer delay_;                            // a dragged threshold starts one job, not fifty
  std::shared_ptr<const Trace> reference_;  // what the entries are compared with
  ComparisonOptions options_;               // and how
  std::map<std::int64_t, Entry> entries_;   // by the subject's id
};

}  // namespace attnscope
