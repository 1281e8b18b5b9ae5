// Markdown with formulas between dollars: $…$ in a line, $$…$$ on a line of its own.
#pragma once

#include <QString>

class QTextDocument;
class QTextEdit;

namespace attnscope {

/// Shows `markdown` in `view`. A literal dollar is written \$; code is left unchanged. Throws
/// Error(damaged) for a formula that cannot be parsed or is not closed.
void show_markdown(QTextEdit& view, const QString& markdown);

/// The document's text for screen readers and the clipboard, formulas in one line.
[[nodiscard]] QString plain_words(const QTextDocument& document);

}  // namespace attnscope
