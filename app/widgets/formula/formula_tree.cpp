#include "app/widgets/formula/formula_tree.h"

#include <QHash>
#include <optional>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

using Kind = FormulaNode::Kind;

struct Sign {
  const char* text;
  Kind kind;
  bool slanted = false;
};

const QHash<QString, Sign>& signs() {
  using enum FormulaNode::Kind;
  static const QHash<QString, Sign> list = {
      {"alpha", {"α", ordinary, true}},
      {"beta", {"β", ordinary, true}},
      {"gamma", {"γ", ordinary, true}},
      {"delta", {"δ", ordinary, true}},
      {"varepsilon", {"ε", ordinary, true}},
      {"lambda", {"λ", ordinary, true}},
      {"mu", {"μ", ordinary, true}},
      {"pi", {"π", ordinary, true}},
      {"sigma", {"σ", ordinary, true}},
      {"tau", {"τ", ordinary, true}},
      {"Delta", {"Δ", ordinary}},
      {"Sigma", {"Σ", ordinary}},
      {"infty", {"∞", ordinary}},
      {"dots", {"…", ordinary}},
      {"top", {"T", ordinary}},
      {"|", {"‖", ordinary}},
      {"{", {"{", opening}},
      {"}", {"}", closing}},
      {"cdot", {"·", binary}},
      {"cdots", {"⋯", binary}},
      {"times", {"×", binary}},
      {"odot", {"⊙", binary}},
      {"pm", {"±", binary}},
      {"le", {"≤", relation}},
      {"ge", {"≥", relation}},
      {"ne", {"≠", relation}},
      {"approx", {"≈", relation}},
      {"in", {"∈", relation}},
      {"to", {"→", relation}},
      {"sum", {"∑", large}},
      {"prod", {"∏", large}},
      {"exp", {"exp", function}},
      {"log", {"log", function}},
      {"ln", {"ln", function}},
      {"max", {"max", function}},
      {"min", {"min", function}},
  };
  return list;
}

Kind kind_of(QChar sign) {
  if (QString("+−±·×⊙∘").contains(sign)) return Kind::binary;
  if (QString("=<>≤≥≈≠∈→").contains(sign)) return Kind::relation;
  if (QString("([").contains(sign)) return Kind::opening;
  if (QString(")]").contains(sign)) return Kind::closing;
  if (QString(",;").contains(sign)) return Kind::punctuation;
  return Kind::ordinary;
}

class Parser {
 public:
  explicit Parser(const QString& tex) : tex_(tex) {}

  FormulaNode whole() {
    FormulaNode all = row({});
    if (at_ < tex_.size()) throw wrong("an unmatched closing sign").found(tex_.mid(at_));
    return all;
  }

 private:
  struct Wrong : Error {
    using Error::Error;
    Wrong& found(const QString& text) {
      Error::found(text.toStdString());
      return *this;
    }
  };
  [[nodiscard]] Wrong wrong(const char* what) const {
    Wrong error(ErrorKind::damaged, std::string("a formula: ") + what);
    error.about(tex_.toStdString());
    return error;
  }

  [[nodiscard]] bool starts(const QString& text) const {
    return !text.isEmpty() && tex_.mid(at_, text.size()) == text;
  }

  /// Parses a row up to `end`, which is not consumed, or to the end of the formula.
  FormulaNode row(const QString& end) {
    FormulaNode node{.kind = Kind::row, .text = {}};
    while (at_ < tex_.size() && !starts(end) && tex_[at_] != '}') {
      if (tex_[at_].isSpace()) {
        ++at_;
        continue;
      }
      if (tex_[at_] == '_' || tex_[at_] == '^') {
        take_script(node);
      } else {
        node.children.push_back(one());
      }
    }
    if (!end.isEmpty() && !starts(end)) throw wrong("the closing sign is missing").found(end);
    return node;
  }

  void take_script(FormulaNode& row) {
    if (row.children.empty()) throw wrong("an index has no base").found(tex_.mid(at_));
    const bool below = tex_[at_++] == '_';
    std::vector<FormulaNode>& place = below ? row.children.back().below : row.children.back().above;
    if (!place.empty()) throw wrong("two indices at the same position").found(tex_.mid(at_ - 1));
    place = {argument()};
  }

  /// Parses {…} or the next sign.
  FormulaNode argument() {
    while (at_ < tex_.size() && tex_[at_].isSpace()) ++at_;
    if (at_ >= tex_.size()) throw wrong("the formula ends too early");
    if (tex_[at_] != '{') return one();
    ++at_;
    FormulaNode node = row("}");
    ++at_;
    return node;
  }

  QString words() {
    if (!starts("{")) throw wrong("text must be in braces").found(tex_.mid(at_));
    const qsizetype end = tex_.indexOf('}', at_);
    if (end < 0) throw wrong("the closing sign is missing").found("}");
    const QString inside = tex_.mid(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  FormulaNode one() {
    const QChar sign = tex_[at_];
    if (sign == '{') return argument();
    if (sign == '\\') return command();
    ++at_;
    if (sign.isDigit() || sign == '.') {
      QString number = sign;
      while (at_ < tex_.size() && (tex_[at_].isDigit() || tex_[at_] == '.')) number += tex_[at_++];
      return {.text = number};
    }
    if (sign == '-') return {.kind = Kind::binary, .text = "−"};
    return {.kind = kind_of(sign), .text = sign, .slanted = sign.isLetter()};
  }

  FormulaNode command() {
    ++at_;
    if (at_ >= tex_.size()) throw wrong("the formula ends too early");
    QString name = tex_[at_++];
    if (name[0].isLetter()) {
      while (at_ < tex_.size() && tex_[at_].isLetter()) name += tex_[at_++];
    }
    if (name == "frac") {
      FormulaNode above = argument();
      return {.kind = Kind::fraction, .text = {}, .children = {std::move(above), argument()}};
    }
    if (name == "sqrt") return {.kind = Kind::root, .text = {}, .children = {argument()}};
    if (name == "text") return {.kind = Kind::words, .text = words()};
    if (name == "operatorname") return {.kind = Kind::function, .text = words()};
    if (name == "left") return fence();
    if (name == ",") return {.kind = Kind::space, .text = {}, .space_em = 0.17};
    if (name == ";") return {.kind = Kind::space, .text = {}, .space_em = 0.28};
    if (name == "quad") return {.kind = Kind::space, .text = {}, .space_em = 1};
    const auto known = signs().constFind(name);
    if (known == signs().constEnd()) throw wrong("an unknown command").found("\\" + name);
    return {.kind = known->kind, .text = known->text, .slanted = known->slanted};
  }

  QString fence_sign() {
    if (at_ >= tex_.size()) throw wrong("the formula ends too early");
    if (tex_[at_] != '\\') return tex_[at_++];
    at_ += 2;
    return QString("‖");
  }

  FormulaNode fence() {
    FormulaNode node{.kind = Kind::fence, .text = fence_sign()};
    node.children = {row("\\right")};
    at_ += 6;
    node.text += fence_sign();
    return node;
  }

  const QString tex_;
  qsizetype at_ = 0;
};

QString in_brackets(const FormulaNode& node) {
  const QString text = spoken(node);
  return text.size() == 1 ? text : "(" + text + ")";
}

QString spoken_alone(const FormulaNode& node) {
  switch (node.kind) {
    case Kind::binary:
    case Kind::relation:
      return " " + node.text + " ";
    case Kind::space:
      return " ";
    case Kind::punctuation:
      return node.text + " ";
    case Kind::fraction:
      return in_brackets(node.children[0]) + " / " + in_brackets(node.children[1]);
    case Kind::root:
      return "√" + in_brackets(node.children[0]);
    case Kind::fence:
      return node.text.left(1) + spoken(node.children[0]) + node.text.right(1);
    case Kind::row: {
      QString all;
      for (const FormulaNode& child : node.children) all += spoken(child);
      return all;
    }
    default:
      return node.text;
  }
}

}  // namespace

FormulaNode parse_formula(const QString& tex) { return Parser(tex).whole(); }

QString spoken(const FormulaNode& node) {
  QString text = spoken_alone(node);
  if (!node.below.empty()) text += "_" + in_brackets(node.below[0]);
  if (!node.above.empty()) text += "^" + in_brackets(node.above[0]);
  return text;
}

}  // namespace attnscope
