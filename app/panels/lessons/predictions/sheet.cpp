#include "app/panels/lessons/predictions/sheet.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QString>
#include <QStringList>

namespace attnscope {

namespace {

// Colours stay legible in grey. A prediction that was wrong looks like one that was right.
constexpr const char* kStyle = R"(
body { font: 11pt/1.45 "DejaVu Sans", sans-serif; color: #222; max-width: 46em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: .2em; } h2 { font-size: 1.1em; margin: 1.8em 0 .3em; }
table { border-collapse: collapse; width: 100%; margin: .6em 0; }
th, td { border: 1px solid #bbb; padding: .3em .5em; text-align: left; vertical-align: top; }
.numbers td { border: none; padding: .05em .8em .05em 0; font-size: .9em; } .numbers { width: auto; }
.where { color: #555; font-size: .9em; } .words { white-space: pre-wrap; border-left: 3px solid #bbb; padding-left: .8em; }
img { max-width: 100%; margin: .4em 0; border: 1px solid #ddd; }
@media print {
  @page { margin: 18mm; }
  body { max-width: none; margin: 0; padding: 0; }
  h2, table, img, .words { break-inside: avoid; } h2 { break-after: avoid; }
}
)";

QString sheet_tr(const char* text) { return QCoreApplication::translate("Sheet", text); }

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString tagged(const QString& tag, const QString& inside, const char* role = nullptr) {
  const QString kind = role ? QString(" class=\"%1\"").arg(role) : QString();
  return "<" + tag + kind + ">" + inside + "</" + tag + ">\n";
}

QString table_of(const SheetStep& step) {
  QString rows;
  const QString nothing = QString::fromUtf8("–");
  const auto at = [&](const std::vector<std::string>& texts, std::size_t i) {
    return i < texts.size() && !texts[i].empty() ? escaped(texts[i]) : nothing;
  };
  for (std::size_t i = 0; i < step.fields.size(); ++i) {
    const PredictionField& field = step.fields[i];
    if (field.kind == PredictionField::Kind::text) continue;
    rows +=
        tagged("tr", "<th scope=\"row\">" + escaped(field.label) + "</th><td>" +
                         at(step.answer.said, i) + "</td><td>" + at(step.answer.seen, i) + "</td>");
  }
  if (rows.isEmpty()) return rows;
  const QString head =
      tagged("tr", "<th></th><th scope=\"col\">" + sheet_tr("You said").toHtmlEscaped() +
                       "</th><th scope=\"col\">" + sheet_tr("Seen").toHtmlEscaped() + "</th>");
  return tagged("table", head + rows);
}

/// The student's own words.
QString words_in(const SheetStep& step) {
  QString words;
  for (std::size_t i = 0; i < step.fields.size() && i < step.answer.said.size(); ++i) {
    if (step.fields[i].kind != PredictionField::Kind::text) continue;
    words += tagged("p", escaped(step.fields[i].label)) +
             tagged("div", escaped(step.answer.said[i]), "words");
  }
  return words;
}

QString numbers_in(const SheetStep& step) {
  QString rows;
  for (const QString& line : QString::fromStdString(step.answer.numbers).split('\n')) {
    if (line.trimmed().isEmpty()) continue;
    QString cells;
    for (const QString& cell : line.split('\t')) cells += "<td>" + cell.toHtmlEscaped() + "</td>";
    rows += tagged("tr", cells);
  }
  return rows.isEmpty() ? rows : tagged("table", rows, "numbers");
}

QString pictures_in(const SheetStep& step) {
  QString pictures;
  for (const std::string& bytes : step.answer.pictures) {
    const QString alt = sheet_tr("Picture of the window: %1").arg(escaped(step.answer.where));
    pictures += "<img alt=\"" + alt + "\" src=\"data:image/png;base64," +
                QString::fromLatin1(QByteArray::fromStdString(bytes).toBase64()) + "\">\n";
  }
  return pictures;
}

}  // namespace

std::string sheet_as_html(const Sheet& sheet) {
  const QString title = escaped(sheet.lesson);
  QString body = tagged("h1", title) +
                 tagged("p", sheet_tr("Name: %1").toHtmlEscaped().arg(escaped(sheet.student))) +
                 tagged("p", escaped(sheet.date + ", " + sheet.program), "where");
  std::string heading;
  for (const SheetStep& step : sheet.steps) {
    if (step.heading != heading) body += tagged("h2", escaped(step.heading));
    heading = step.heading;
    body += tagged("p", tagged("b", escaped(step.question))) + table_of(step);
    if (step.answer.compared) body += tagged("p", escaped(step.answer.where), "where");
    body += numbers_in(step) + words_in(step) + pictures_in(step);
  }
  return ("<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n" + tagged("title", title) +
          tagged("style", QString::fromUtf8(kStyle)) + "</head>\n<body>\n" + body +
          "</body>\n</html>\n")
      .toStdString();
}

}  // namespace attnscope
