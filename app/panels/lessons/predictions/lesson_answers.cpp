#include "app/panels/lessons/predictions/lesson_answers.h"

#include <QByteArray>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace attnscope {

namespace {

constexpr qsizetype kMostAnswers = 200;  // predictions of one lesson, and entries of their lists

QJsonArray list_of(const std::vector<std::string>& texts) {
  QJsonArray list;
  for (const std::string& text : texts) list.append(QString::fromStdString(text));
  return list;
}

std::vector<std::string> texts_of(const QJsonValue& value) {
  std::vector<std::string> texts;
  const QJsonArray list = value.toArray();
  for (qsizetype i = 0; i < std::min(list.size(), kMostAnswers); ++i) {
    texts.push_back(list[i].toString().toStdString());
  }
  return texts;
}

QJsonObject object_of(const PredictionAnswer& answer) {
  QJsonArray pictures;
  for (const std::string& bytes : answer.pictures) {
    pictures.append(QString::fromLatin1(QByteArray::fromStdString(bytes).toBase64()));
  }
  return {{"said", list_of(answer.said)},
          {"seen", list_of(answer.seen)},
          {"kept", answer.kept},
          {"compared", answer.compared},
          {"where", QString::fromStdString(answer.where)},
          {"numbers", QString::fromStdString(answer.numbers)},
          {"pictures", pictures}};
}

PredictionAnswer answer_of(const QJsonObject& object) {
  PredictionAnswer answer;
  answer.said = texts_of(object["said"]);
  answer.seen = texts_of(object["seen"]);
  answer.kept = object["kept"].toBool();
  answer.compared = object["compared"].toBool();
  answer.where = object["where"].toString().toStdString();
  answer.numbers = object["numbers"].toString().toStdString();
  for (const std::string& text : texts_of(object["pictures"])) {
    const QByteArray bytes = QByteArray::fromBase64(QByteArray::fromStdString(text));
    if (bytes.startsWith("\x89PNG")) answer.pictures.push_back(bytes.toStdString());
  }
  return answer;
}

/// True if something was predicted, kept or skipped.
bool is_begun(const PredictionAnswer& answer) {
  return answer.kept ||
         std::ranges::any_of(answer.said, [](const auto& said) { return !said.empty(); });
}

}  // namespace

void LessonAnswers::fit(const std::vector<std::size_t>& fields) {
  predictions.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    predictions[i].said.resize(fields[i]);
    predictions[i].seen.resize(fields[i]);
  }
}

std::string answers_as_text(const AllAnswers& answers) {
  QJsonObject all;
  for (const auto& [lesson, own] : answers) {
    if (own.student.empty() && std::ranges::none_of(own.predictions, is_begun)) continue;
    QJsonArray predictions;
    for (const PredictionAnswer& answer : own.predictions) predictions.append(object_of(answer));
    all[QString::fromStdString(lesson)] =
        QJsonObject{{"student", QString::fromStdString(own.student)}, {"predictions", predictions}};
  }
  if (all.isEmpty()) return {};
  return QJsonDocument(all).toJson(QJsonDocument::Compact).toStdString();
}

AllAnswers answers_of_text(std::string_view text) {
  const QJsonObject all =
      QJsonDocument::fromJson(QByteArray(text.data(), static_cast<qsizetype>(text.size())))
          .object();
  AllAnswers answers;
  for (auto lesson = all.begin(); lesson != all.end(); ++lesson) {
    const QJsonObject object = lesson.value().toObject();
    LessonAnswers& own = answers[lesson.key().toStdString()];
    own.student = object["student"].toString().toStdString();
    const QJsonArray predictions = object["predictions"].toArray();
    for (qsizetype i = 0; i < std::min(predictions.size(), kMostAnswers); ++i) {
      own.predictions.push_back(answer_of(predictions[i].toObject()));
    }
  }
  return answers;
}

}  // namespace attnscope
