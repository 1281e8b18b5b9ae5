#include "analysis/intervention/study.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/intervention/answer.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/sweep/result_file.h"
#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_fingerprint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/model/evaluation/evaluation.h"
#include "core/model/evaluation/text_evaluation.h"

namespace attnscope {

namespace {

// Number of questions per block. Work can be resumed between blocks; results do not depend on it.
constexpr std::int64_t kQuestions = 16;

/// One image, or one chunk of a text.
struct Question {
  Input input;
  std::vector<std::int64_t> answers;  ///< the true class, or the next token of each token
  std::int64_t characters = 0;
};

/// Questions of one series.
class Questions {
 public:
  Questions(const StudyRequest& request, const Model& model) : request_(request) {
    if (request.text) chunks_ = text_chunks(model, *request.text);
    items_ =
        chosen_items(request.text ? std::ssize(chunks_) : request.data_set->size(), request.choice);
  }

  [[nodiscard]] std::int64_t size() const { return std::ssize(items_); }

  /// Question `index`, without the true class of an image: that depends on the number of logits.
  [[nodiscard]] Question at(std::int64_t index) const {
    const std::int64_t item = items_[static_cast<std::size_t>(index)];
    Question question;
    if (!request_.text) {
      question.input = request_.data_set->item(item);
      return question;
    }
    const TextChunk& chunk = chunks_[static_cast<std::size_t>(item)];
    question.input.content = Text{{}, chunk.ids};
    question.input.label = "chunk " + std::to_string(item);
    question.answers = chunk.next;
    for (const std::int64_t characters : chunk.characters) question.characters += characters;
    return question;
  }

 private:
  const StudyRequest& request_;
  std::vector<TextChunk> chunks_;
  std::vector<std::int64_t> items_;
};

/// Judged answers of one question under one intervention.
struct Answers {
  std::int64_t correct = 0, not_finite = 0;
  double nats = 0, divergence = 0;
};

struct QuestionRecord {
  std::int64_t predicted = 0, characters = 0;
  std::vector<Answers> columns;
  RankSum ranks;
};

/// Rows of a logits tensor: one per image, one per token of a text.
struct Logits {
  const Tensor& tensor;
  [[nodiscard]] std::span<const float> row(std::size_t index) const {
    const auto width = static_cast<std::size_t>(tensor.shape().back());
    return tensor.values().subspan(index * width, width);
  }
};

Answers judge_answers(const Tensor& whole, const Tensor& changed,
                      const std::vector<std::int64_t>& truth) {
  Answers answers;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::span<const float> before = Logits{whole}.row(i), after = Logits{changed}.row(i);
    const std::int64_t answer = likeliest(after);
    if (answer < 0 || likeliest(before) < 0) {
      ++answers.not_finite;
      continue;
    }
    answers.correct += answer == truth[i];
    answers.nats -= log_probabilities(after)(truth[i]);
    if (&whole != &changed) answers.divergence += divergence_bits(before, after);
  }
  return answers;
}

QuestionRecord record_of(const SeriesRequest& series, Question question, bool of_text) {
  const Subject& subject = series.subject;
  TraceRequest request;
  request.implied_maps = series.ranks != nullptr;
  request.token_logits = of_text;
  request.parameters = subject.parameters;
  TraceRequest first = request;
  for (const Intervention& one : series.interventions) {
    if (one.needs) one.needs(first);
  }
  const auto whole = std::make_shared<const Trace>(
      subject.model->run(question.input, subject.mechanism, first, {}));
  const Tensor& before = of_text ? whole->token_logits : whole->logits;
  if (!of_text) question.answers = {true_class_of(question.input, before.size())};
  QuestionRecord record;
  record.predicted = std::ssize(question.answers);
  record.characters = question.characters;
  record.columns.push_back(judge_answers(before, before, question.answers));
  if (series.ranks) record.ranks = series.ranks(*whole);
  request.implied_maps = false;
  for (const Intervention& one : series.interventions) {
    request.change_map = one.change(subject, whole);
    const Trace changed = subject.model->run(question.input, subject.mechanism, request, {});
    record.columns.push_back(
        judge_answers(before, of_text ? changed.token_logits : changed.logits, question.answers));
  }
  return record;
}

void append(StudySeries& series, const QuestionRecord& record) {
  series.predicted.push_back(record.predicted);
  series.characters.push_back(record.characters);
  for (const Answers& answers : record.columns) {
    series.correct.push_back(answers.correct);
    series.not_finite.push_back(answers.not_finite);
    series.nats.push_back(answers.nats);
    series.divergence.push_back(answers.divergence);
  }
  series.rank_sums.push_back(record.ranks.sum);
  series.rank_maps.push_back(record.ranks.maps);
  if (series.null_ranks) {
    series.null_sums.push_back(record.ranks.null_sum);
    series.ratio_sums.push_back(record.ranks.ratio_sum);
    series.null_maps.push_back(record.ranks.null_maps);
  }
  series.greatest_rank = std::max(series.greatest_rank, record.ranks.greatest);
  ++series.done;
}

void check_study(const StudyRequest& request) {
  if (request.series.empty()) throw Error(ErrorKind::usage, "no model was given to study");
  if ((request.data_set != nullptr) == request.text.has_value()) {
    throw Error(ErrorKind::usage, "give a data set of images, or a text")
        .expected("--dataset DATASET or --input TEXT");
  }
  for (const SeriesRequest& series : request.series) {
    const Model* const model = series.subject.model.get();
    if (model == nullptr) {
      throw Error(ErrorKind::usage, "a trace cannot be run again")
          .about(series.subject.label)
          .remedy("give the weight file");
    }
    if (request.text || model->spec().readout.gives_features()) continue;
    throw Error(ErrorKind::usage, "the model has no head to classify with").in_file(model->file());
  }
}

std::string fingerprint_of(const StudyRequest& request) {
  using nlohmann::json;
  json subjects = json::array(), changes = json::array();
  for (const SeriesRequest& series : request.series) {
    subjects.push_back(subject_fingerprint(series.label, series.subject));
    for (const Intervention& one : series.interventions) changes.push_back(one.name);
  }
  changes.push_back(request.fingerprint);
  std::string data;
  if (request.text) {
    const Text& text = *request.text;
    data = text.characters + "\n" + nlohmann::json(text.ids).dump();
    data = content_hash(data);
  } else {
    std::vector<std::filesystem::path> files = request.data_set->files();
    if (files.empty()) files = {request.data};
    data = content_hash(files);
  }
  json all = {{"version", ATTNSCOPE_VERSION},
              {"subjects", subjects},
              {"data_set", data},
              {"count", request.choice.count},
              {"seed", request.choice.seed},
              {"thresholds", request.threshold.level},
              {"changes", changes}};
  if (request.threshold.of != RankShare::values) {
    all["share"] = name_of(rank_share_names, request.threshold.of);
  }
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

StudyResult begin_intervention(const StudyRequest& request,
                               const std::vector<Questions>& questions) {
  StudyResult result;
  result.kind = request.kind;
  result.of_text = request.text.has_value();
  result.data = request.data;
  result.description = request.description;
  result.fingerprint = request.out.empty() ? std::string() : fingerprint_of(request);
  result.items = request.text ? 0 : request.data_set->size();
  result.seed = request.choice.seed;
  result.threshold = request.threshold;
  for (std::size_t i = 0; i < request.series.size(); ++i) {
    const SeriesRequest& asked = request.series[i];
    StudySeries series;
    series.label = asked.label;
    series.model = asked.subject.model->file().string();
    series.mechanism = to_string(asked.subject.mechanism);
    series.count = questions[i].size();
    series.null_ranks = asked.null_ranks;
    series.columns.push_back({.name = "whole"});
    for (const Intervention& one : asked.interventions) {
      series.columns.push_back(
          {.name = one.name, .layer = one.layer, .head = one.head, .rank = one.rank});
    }
    result.series.push_back(std::move(series));
  }
  return result;
}

/// Reads the study in `file`. Throws Error(usage) unless it has this fingerprint.
StudyResult found_there(const std::filesystem::path& file, const std::string& fingerprint,
                        const char* what) {
  const auto refusal = [&](const char* problem) {
    return Error(ErrorKind::usage, problem)
        .in_file(file)
        .remedy("write elsewhere, or replace it (--restart)");
  };
  StudyResult found;
  try {
    found = read_study(file);
  } catch (const Error&) {
    throw refusal("the output file exists and is not a study");
  }
  const std::string difference = fingerprint_difference(found.fingerprint, fingerprint);
  if (!difference.empty()) throw refusal(what).found("a difference in " + difference);
  return found;
}

/// Result of an earlier run of the same study, finished or not; else an empty one.
StudyResult resumed(const StudyRequest& request, const std::vector<Questions>& questions) {
  StudyResult result = begin_intervention(request, questions);
  if (request.out.empty()) return result;
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  { const AtomicFile writable(request.out), checkpoint(unfinished); }
  if (request.restart) return result;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(request.out, ignored)) {
    StudyResult found = found_there(request.out, result.fingerprint,
                                    "the result of another study is already there");
    if (found.complete()) {
      remove_leftover(unfinished, found.fingerprint,
                      [](const auto& file) { return read_study(file).fingerprint; });
    }
    return found;
  }
  if (std::filesystem::exists(unfinished, ignored)) {
    return found_there(unfinished, result.fingerprint,
                       "unfinished work of another study is next to the result");
  }
  return result;
}

/// Number of questions done and in total, over all series.
struct Tally {
  std::int64_t done = 0, count = 0;
};
Tally tally(const StudyResult& result) {
  Tally sum;
  for (const StudySeries& series : result.series) {
    sum.done += series.done;
    sum.count += series.count;
  }
  return sum;
}

void ask_block(const SeriesRequest& asked, const Questions& questions, bool of_text,
               StudySeries& series, const Tally& so_far, const Progress& progress) {
  const std::int64_t size = std::min(kQuestions, series.count - series.done);
  std::vector<QuestionRecord> records(static_cast<std::size_t>(size));
  const auto begin = [&](std::int64_t finished) {
    const std::int64_t done = so_far.done + finished;
    progress.step(static_cast<double>(done) / static_cast<double>(so_far.count),
                  std::to_string(done) + " of " + std::to_string(so_far.count) +
                      (of_text ? " chunks" : " images"));
  };
  const std::size_t done = work_until_stopped(records.size(), begin, [&](std::size_t i) {
    records[i] =
        record_of(asked, questions.at(series.done + static_cast<std::int64_t>(i)), of_text);
  });
  for (std::size_t i = 0; i < done; ++i) append(series, records[i]);
  if (progress.cancelled()) throw Cancelled{};
}

using Indices = std::vector<std::int64_t>;

bool is_among(const Indices& list, std::int64_t index) {
  return list.empty() || std::ranges::find(list, index) != list.end();
}

std::string list_in_words(const Indices& list, const std::string& what) {
  if (list.empty()) return "all " + what + "s";
  std::string words = what + (list.size() > 1 ? "s" : "");
  for (std::size_t i = 0; i < list.size(); ++i) {
    words += (i > 0 ? ", " : " ") + std::to_string(list[i]);
  }
  return words;
}

void check_indices(const Indices& list, std::int64_t count, const std::string& what,
                   const char* prefix) {
  for (const std::int64_t index : list) {
    if (index >= 0 && index < count) continue;
    throw Error(ErrorKind::usage, "the model has no such " + what)
        .about(prefix + what + "s")
        .expected("0 to " + std::to_string(count - 1))
        .found(std::to_string(index));
  }
}

}  // namespace

bool StudyResult::complete() const {
  return std::ranges::all_of(series, [](const StudySeries& one) { return one.done == one.count; });
}

StudyResult run_study(const StudyRequest& request, const Progress& progress,
                      const StudyAdvanced& advanced) {
  using Clock = std::chrono::steady_clock;
  check_study(request);
  std::vector<Questions> questions;
  for (const SeriesRequest& series : request.series) {
    questions.emplace_back(request, *series.subject.model);
    if (questions.back().size() == 0) throw Error(ErrorKind::usage, "the data set is empty");
  }
  StudyResult result = resumed(request, questions);
  if (result.complete()) return result;
  std::int64_t kept = tally(result).done;
  Clock::time_point last = Clock::now();
  const auto keep = [&](const std::filesystem::path& file) {
    kept = tally(result).done;
    last = Clock::now();
    if (!request.out.empty()) write_study(file, result);
    if (advanced) advanced(result);
  };
  for (std::size_t i = 0; i < result.series.size(); ++i) {
    StudySeries& series = result.series[i];
    while (series.done < series.count) {
      try {
        ask_block(request.series[i], questions[i], result.of_text, series, tally(result), progress);
      } catch (const Cancelled&) {
        if (kept != tally(result).done) keep(sweep_checkpoint(request.out));
        throw;
      }
      const std::chrono::duration<double> since = Clock::now() - last;
      if (since.count() >= request.checkpoint_seconds && !result.complete()) {
        keep(sweep_checkpoint(request.out));
      }
    }
  }
  keep(request.out);
  std::error_code ignored;
  if (!request.out.empty()) {
    std::filesystem::remove(sweep_checkpoint(request.out), ignored);
  }
  progress.step(1);
  return result;
}

bool HeadChoice::has_layer(std::int64_t layer) const { return is_among(layers, layer); }

bool HeadChoice::has_head(std::int64_t head) const { return is_among(heads, head); }

std::string in_words(const HeadChoice& choice) {
  return list_in_words(choice.layers, "layer") + ", " + list_in_words(choice.heads, "head");
}

void check_choice(const HeadChoice& choice, std::int64_t layers, std::int64_t heads,
                  const char* prefix) {
  check_indices(choice.layers, layers, "layer", prefix);
  check_indices(choice.heads, heads, "head", prefix);
}

}  // namespace attnscope
