
#include <gtest/gtest.h>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/sweep_figures.h"
#include "analysis/figure/text_layout.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

using Labels = std::vector<std::string>;

TEST(ShortLabels, KeepWordsThatDistinguishModels) {
  EXPECT_EQ(short_labels(Labels{"fashion-softmax", "fashion-adder"}), (Labels{"softmax", "adder"}));
  EXPECT_EQ(short_labels(Labels{"09_ankle_boot.png", "01_trouser.png"}),
            (Labels{"09_ankle_boot", "01_trouser"}));
  EXPECT_EQ(short_labels(Labels{"net softmax run 1", "net adder run 1"}),
            (Labels{"softmax", "adder"}));
  // Words are never cut.
  EXPECT_EQ(short_labels(Labels{"deit-tiny", "deit-tall"}), (Labels{"tiny", "tall"}));
  EXPECT_EQ(short_labels(Labels{"softmax", "soft"}), (Labels{"softmax", "soft"}));
}

TEST(ShortLabels, StayWhereNothingElseWouldBeLeft) {
  EXPECT_EQ(short_labels(Labels{"net-softmax", "net-"}), (Labels{"net-softmax", "net-"}));
  EXPECT_EQ(short_labels(Labels{"alone-model"}), (Labels{"alone-model"}));
  EXPECT_EQ(short_labels(Labels{"same-net", "same-net"}), (Labels{"same-net", "same-net"}));
  EXPECT_EQ(short_labels(Labels{"net (adder, bits=8)", "net (hash, bits=8)"}),
            (Labels{"(adder, bits=8)", "(hash, bits=8)"}));
}

TEST(ShortLabels, KeepTheNameThatBeginsTheOthers) {
  const Labels overlaid = {"vit.in1k", "vit.in1k as adder"};
  EXPECT_EQ(short_labels(overlaid), overlaid) << "in1k alone would name no model";
}

TEST(SweptSeries, KeepTheirIAndShareTheColourOfTheirModel) {
  SweepResult swept;
  for (const char* model : {"fashion-softmax", "fashion-adder"}) {
    for (const bool identity : {false, true}) {
      SweepSeries& series = swept.series.emplace_back();
      series.label = std::string(model) + (identity ? " + I" : " without I");
      series.identity = identity;
    }
  }
  std::vector<std::string> labels;
  std::vector<std::size_t> models;
  for (const SweptSeriesLook& look : looks_of_series(swept)) {
    labels.push_back(look.label);
    models.push_back(look.model);
  }
  EXPECT_EQ(labels, (Labels{"softmax", "softmax + I", "adder", "adder + I"}));
  EXPECT_EQ(models, (std::vector<std::size_t>{0, 0, 1, 1}));
  // Maps as they are have plain names, also where they contain I.
  swept.series.erase(swept.series.begin(), swept.series.begin() + 2);
  swept.series.resize(1);
  swept.series[0].label = "fashion-adder";
  swept.series[0].identity = true;
  EXPECT_EQ(looks_of_series(swept).at(0).label, "fashion-adder");
}

TEST(Labels, AreShortenedInTheirMiddle) {
  EXPECT_EQ(elided_middle("vit_tiny", 20), "vit_tiny");
  const std::string shown = elided_middle("vit_tiny_patch16_224.augreg_in21k_ft_in1k", 10);
  EXPECT_LE(text_ems(shown), 10);
  EXPECT_TRUE(shown.starts_with("vit_t") && shown.ends_with("_in1k")) << shown;
  EXPECT_EQ(elided_middle("ααααααααα\nb", 3), "αα…α\nb") << "whole letters, line by line";
}

TEST(Labels, KeepsTheHeadInRowLabels) {
  EXPECT_EQ(row_label("adder, head 2", 40, 7), "adder, head 2");
  const std::string shown = row_label("vit_tiny_patch16_224 as adder, head 2", 20, 7);
  EXPECT_TRUE(shown.starts_with("vit_") && shown.ends_with("adder\nhead 2")) << shown;
  EXPECT_LE(text_mm(shown, 7), 25) << "widths are estimates";
}

TEST(Labels, RowLabelsBreakIntoThreeLinesBeforeTheyAreShortened) {
  EXPECT_EQ(row_label("adder-network-identity", 12, 7), "adder-\nnetwork-\nidentity");
  EXPECT_EQ(row_label("adder-network-identity", 18, 7), "adder-network-\nidentity");
  EXPECT_NE(row_label("adder-network-identity", 6, 7).find("…"), std::string::npos);
}

TEST(Caption, ShortensConsecutiveIndicesToARange) {
  EXPECT_EQ(chosen("layer", "all"), "all layers");
  EXPECT_EQ(chosen("layer", "3"), "layer 3");
  EXPECT_EQ(chosen("layer", "2-4"), "layers 2-4");
  EXPECT_EQ(chosen("layer", "0,2"), "layers 0,2");
}

Subject on(const std::string& label, const MechanismChoice& mechanism, const std::string& input) {
  Subject subject = attention_subject(label, mechanism);
  auto trace = std::make_shared<Trace>(*subject.trace);
  trace->input_label = input;
  subject.trace = std::move(trace);
  return subject;
}

TEST(ShortLabels, ShortenModelsAndInputsOfSubjectsSeparately) {
  FigureRequest request;
  request.subjects = {on("fashion-softmax on 09_boot.png", {"softmax", {}}, "09_boot.png"),
                      on("fashion-adder on 09_boot.png", {"adder", {}}, "09_boot.png")};
  EXPECT_EQ(short_labels(request), (Labels{"softmax", "adder"}));
  request.subjects.push_back(on("fashion-adder on 01_bag.png", {"adder", {}}, "01_bag.png"));
  EXPECT_EQ(short_labels(request),
            (Labels{"softmax on 09_boot", "adder on 09_boot", "adder on 01_bag"}));
  request.subjects.erase(request.subjects.begin());
  EXPECT_EQ(short_labels(request), (Labels{"09_boot", "01_bag"}));
}

TEST(Caption, RepeatsNothing) {
  FigureRequest request;
  request.subjects = {on("fashion-softmax on 09_boot.png", {"softmax", {}}, "09_boot.png"),
                      on("net on 09_boot.png", {"adder", {{"identity", true}}}, "09_boot.png")};
  EXPECT_EQ(subjects_in_words(request),
            "fashion-softmax; net (adder attention + identity), both on 09_boot.png");
  request.subjects[1] =
      on("fashion-adder on 01_bag.png", {"adder", {{"identity", true}}}, "01_bag.png");
  EXPECT_EQ(subjects_in_words(request),
            "fashion-softmax on 09_boot.png; fashion-adder (+ identity) on 01_bag.png");
  request.subjects[1].label = "fashion-softmax with adder attention + identity";
  EXPECT_EQ(subjects_in_words(request),
            "fashion-softmax on 09_boot.png; fashion-softmax with adder attention + "
            "identity on 01_bag.png");
}

}  // namespace
}  // namespace attnscope
