// Markdown with formulas between dollars: $…$ in a line, $$…$$ on a line of its own.
#pragma once

#include <QString>

class QTextDocument;
class QTextEdit;

namespace attnscope {

/// `markdown` becomes what `view` shows. A dollar that is none is written \$; code is left as
/// it stands. Throws Error(damaged) for a formula that is not understood or not closed.
void show_markdown(QTextEdit& view, const QString& markdown);

/// The same, for those who hear or copy it: formulas in one line.
[[nodiscard]] QString plain_words(const QTextDocument& document);

}  // namespace attnscope
