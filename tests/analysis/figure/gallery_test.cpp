#include "analysis/figure/gallery.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "analysis/figure/fit.h"
#include "core/error.h"
#include "tests/support/attention_subjects.h"

namespace attnscope {
namespace {

const GalleryItem& item_at(const std::vector<GalleryItem>& items, std::string_view place) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const GalleryItem& item) {
    return item.entry->place == place;
  });
  if (found == items.end()) throw std::out_of_range(std::string(place));
  return *found;
}

FigureRequest open_subjects() {
  FigureRequest open;
  open.subjects = {attention_subject("softmax", {"softmax", {}}),
                   attention_subject("adder", {"adder", {}})};
  return open;
}

TEST(Gallery, HoldsEveryFigureOfThePapersOnce) {
  std::set<std::string> places, files;
  for (const GalleryEntry& entry : gallery()) {
    EXPECT_TRUE(places.insert(std::string(entry.place)).second);
    EXPECT_TRUE(files.insert(file_name_of(entry)).second);
    EXPECT_FALSE(entry.paper.empty());
    EXPECT_FALSE(entry.title.empty());
  }
  for (const char* place :
       {"Adder, Fig. 1", "Adder, Fig. 2", "Adder, Fig. 3", "Adder, appendix Fig. 2",
        "Adder, appendix Fig. 3", "DAFT, Fig. 1 left", "DAFT, Fig. 1 right", "DAFT, Fig. 3",
        "DAFT, Fig. 8", "DAFT, Fig. 9", "DAFT, Fig. 10", "DAFT, Fig. 11", "DAFT, Fig. 12",
        "DAFT, Fig. 13", "DAFT, Fig. 14", "EcoFormer, Fig. 2", "Fastformer-LM, Eq. 1"}) {
    EXPECT_TRUE(places.contains(place)) << place;
  }
  EXPECT_EQ(file_name_of(gallery()[3]), "adder-appendix-fig-2");
}

TEST(Gallery, NamesOnlyExistingFiguresAndSettings) {
  for (const GalleryEntry& entry : gallery()) {
    EXPECT_NO_THROW((void)complete_settings(entry.recipe, entry.settings)) << entry.place;
  }
}

TEST(Gallery, NamesMissingRequirements) {
  const std::vector<GalleryItem> nothing = gallery_items({}, "");
  EXPECT_NE(item_at(nothing, "Adder, Fig. 2").missing.find("model"), std::string::npos);
  EXPECT_TRUE(item_at(nothing, "EcoFormer, Fig. 2").missing.empty());
  const std::vector<GalleryItem> items = gallery_items(open_subjects(), "");
  EXPECT_NE(item_at(items, "Adder, Fig. 1").missing, "");
  for (const char* place :
       {"DAFT, Fig. 3", "DAFT, Fig. 8", "DAFT, Fig. 11", "Fastformer-LM, Eq. 1"}) {
    EXPECT_NE(item_at(items, place).missing, "") << place;
  }
}

TEST(Gallery, DrawsFiguresThatTheSubjectsCanShow) {
  const std::vector<GalleryItem> items = gallery_items(open_subjects(), "");
  for (const char* place : {"Adder, Fig. 2", "Adder, Fig. 3", "Adder, appendix Fig. 2",
                            "Adder, appendix Fig. 3", "EcoFormer, Fig. 2"}) {
    const GalleryItem& item = item_at(items, place);
    ASSERT_EQ(item.missing, "") << place;
    const Figure figure = make_figure(item.entry->recipe, item.request);
    EXPECT_FALSE(figure.panels.empty()) << place;
  }
  // The appendix shows only the adder network.
  const GalleryItem& adder = item_at(items, "Adder, appendix Fig. 2");
  ASSERT_EQ(adder.request.subjects.size(), 1U);
  EXPECT_EQ(adder.request.subjects[0].label, "adder");
}

TEST(Gallery, GivesEachFigureItsInput) {
  FigureRequest open;
  for (const char* input : {"a.png", "b.png"}) {
    Subject subject = attention_subject("adder", {"adder", {}});
    auto own = std::make_shared<Input>();
    own->locator = own->label = input;
    subject.input = own;
    open.subjects.push_back(subject);
  }
  const std::vector<GalleryItem> items = gallery_items(open, "");
  const GalleryItem& maps = item_at(items, "Adder, Fig. 3");
  ASSERT_EQ(maps.request.subjects.size(), 1U);
  EXPECT_EQ(maps.request.subjects[0].input->locator, "a.png");
  EXPECT_EQ(item_at(items, "Adder, Fig. 2").request.subjects.size(), 2U);
}

TEST(Gallery, ShowsTheMechanismsThatThePaperComparesAndAsManyModels) {
  FigureRequest open;
  for (const char* name : {"linear", "additive", "adder", "softmax", "performer"}) {
    open.subjects.push_back(attention_subject(name, {name, {}}));
  }
  const std::vector<GalleryItem> items = gallery_items(open, "");
  const GalleryItem& maps = item_at(items, "Adder, Fig. 3");
  ASSERT_EQ(maps.request.subjects.size(), 2U);
  EXPECT_EQ(maps.request.subjects[0].label, "softmax");
  EXPECT_EQ(maps.request.subjects[1].label, "adder");
  // Without any of them, the models that are open are shown, up to the paper's number.
  std::erase_if(open.subjects, [](const Subject& subject) {
    return subject.label == "adder" || subject.label == "softmax";
  });
  const std::vector<GalleryItem> others = gallery_items(open, "");
  EXPECT_EQ(item_at(others, "Adder, Fig. 3").request.subjects.size(), 3U);
  EXPECT_EQ(item_at(others, "Adder, appendix Fig. 3").request.subjects.size(), 2U);
}

TEST(Gallery, TakesFigureAndSettingsFromTheCommandOfThePaper) {
  const std::vector<GalleryItem> items = gallery_items(open_subjects(), "");
  const GalleryEntry& maps = *item_at(items, "Adder, appendix Fig. 2").entry;
  EXPECT_EQ(maps.recipe, "attention-maps");
  EXPECT_EQ(to_string(maps.settings.at("columns")), "layers");
  EXPECT_EQ(to_string(maps.settings.at("heads")), "0");
  // The data set of the sample command is not that of the user.
  EXPECT_FALSE(item_at(items, "Adder, Fig. 1").entry->settings.contains("dataset"));
}

TEST(Gallery, FiguresOfOneMechanismTrainedInSeveralWaysShowAsManyModels) {
  FigureRequest open;
  const auto missing = [&](const char* place) {
    const std::vector<GalleryItem> items = gallery_items(open, "");
    return item_at(items, place).missing;
  };
  open.subjects = {attention_subject("plain", {"daft-conv", {}})};
  EXPECT_EQ(missing("DAFT, Fig. 8"), "");
  EXPECT_EQ(missing("DAFT, Fig. 9"),
            "needs another model with DAFT-conv, trained with sparsity regularisation");
  open.subjects.push_back(attention_subject("sparse", {"daft-conv", {}}));
  const std::vector<GalleryItem> items = gallery_items(open, "");
  EXPECT_EQ(item_at(items, "DAFT, Fig. 8").request.subjects.at(0).label, "plain");
  EXPECT_EQ(item_at(items, "DAFT, Fig. 9").request.subjects.at(0).label, "sparse");
  EXPECT_NE(missing("DAFT, Fig. 10"), "");
}

TEST(Fit, DependsOnTheKindsOfSubjects) {
  const std::vector<Subject> subjects = open_subjects().subjects;
  EXPECT_EQ(fit_of("rank-by-layer", subjects).subjects.size(), 2U);
  EXPECT_EQ(fit_of("no-such-figure", subjects).missing, "not in this version");
  EXPECT_NE(fit_of("rank-by-layer", {}).missing, "");
  EXPECT_EQ(fit_of("energy-share", {}).missing, "");
  EXPECT_EQ(fit_of("hash-codes", subjects).most, 1U);
  EXPECT_NE(fit_of("token-importance", subjects).missing, "");
  EXPECT_TRUE(attends_by(subjects[1], "adder"));
  EXPECT_FALSE(attends_by(subjects[0], "adder"));
}

}  // namespace
}  // namespace attnscope
