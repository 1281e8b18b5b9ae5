#include "analysis/lens/linear_readout.h"

#include <cmath>

#include "analysis/intervention/answer.h"
#include "core/error.h"

namespace attnscope {

namespace {

[[noreturn]] void refuse_readout(const Transformer& model) {
  if (model.spec().arithmetic == Arithmetic::adder) {
    throw Error(ErrorKind::usage, "the output of the heads is not linear in their input")
        .in_file(model.file())
        .expected("multiplicative layers")
        .found("adder layers, which take distances from their weights");
  }
  throw Error(ErrorKind::usage, "the logits are not linear in the tokens")
      .in_file(model.file())
      .expected("norms, and a linear head")
      .found("a read-out that is not linear");
}

std::int64_t likeliest_at(const Trace& trace, std::int64_t place) {
  if (place < 0 || place + 1 == trace.tokens()) return likeliest(trace.logits.values());
  if (trace.token_logits.empty() || place >= trace.tokens()) {
    throw Error(ErrorKind::usage, "the logits at this token position were not recorded")
        .expected("a class or token")
        .remedy("name it");
  }
  const auto width = static_cast<std::size_t>(trace.logits.size());
  return likeliest(
      trace.token_logits.values().subspan(static_cast<std::size_t>(place) * width, width));
}

}  // namespace

void require_linear_readout(const Transformer& model) {
  const TokenReadout& readout = model.weights().readout;
  if (readout.head.size() != 1 || readout.pooler || readout.pooling || readout.transform ||
      readout.distillation_head || readout.projection || model.spec().readout.soft_cap > 0 ||
      model.spec().arithmetic == Arithmetic::adder) {
    refuse_readout(model);
  }
}

Eigen::RowVectorXd places_read(const Transformer& model, Eigen::Index tokens, std::int64_t place) {
  const ModelSpec& spec = model.spec();
  Eigen::RowVectorXd read = Eigen::RowVectorXd::Zero(tokens);
  const Readout kind = spec.readout.kind;
  if (spec.readout.gives_token_logits()) {
    const std::int64_t at = place < 0 ? tokens - 1 : place;
    if (at >= tokens) {
      throw Error(ErrorKind::usage, "the text has no such token")
          .expected("0 to " + std::to_string(tokens - 1))
          .found(std::to_string(place));
    }
    read(at) = 1;
    return read;
  }
  if (place >= 0) {
    throw Error(ErrorKind::usage, "the token position cannot be chosen for a classifier")
        .expected("no position")
        .found(std::to_string(place));
  }
  if (kind == Readout::class_token) {
    read(0) = 1;
  } else if (kind == Readout::last_token) {
    read(tokens - 1) = 1;
  } else if (kind == Readout::mean || kind == Readout::mean_all) {
    const Eigen::Index left_out = kind == Readout::mean ? spec.input.prefix_tokens() : 0;
    read.tail(tokens - left_out).setConstant(1.0 / static_cast<double>(tokens - left_out));
  } else {
    refuse_readout(model);
  }
  return read;
}

std::int64_t chosen_target(const Trace& trace, std::int64_t target, std::int64_t place) {
  const std::int64_t classes = trace.logits.size();
  if (classes == 0) throw Error(ErrorKind::usage, "the model gave no logits");
  if (target >= classes) {
    throw Error(ErrorKind::usage, "the model has no such class")
        .expected("0 to " + std::to_string(classes - 1))
        .found(std::to_string(target));
  }
  if (target >= 0) return target;
  const std::int64_t found = likeliest_at(trace, place);
  if (found < 0) throw Error(ErrorKind::usage, "the logits hold NaN or Inf");
  return found;
}

double scale_of_logits(const ModelSpec& spec) {
  if (!spec.readout.gives_token_logits()) return 1;
  return spec.readout.logit_scale == 0 ? 1.0 / std::sqrt(static_cast<double>(spec.width))
                                       : spec.readout.logit_scale;
}

}  // namespace attnscope
