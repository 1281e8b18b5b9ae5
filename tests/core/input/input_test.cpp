#include "core/input/input.h"

#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string input_file(const std::string& name) { return test_data("input/" + name).string(); }

TEST(OpenInput, ReadsPicturesAndArrays) {
  const Input picture = open_input(input_file("rgb.jpg"));
  EXPECT_EQ(std::get<Image>(picture.content).width, 17);
  EXPECT_EQ(picture.label, "rgb.jpg");
  EXPECT_EQ(picture.locator, input_file("rgb.jpg"));
  EXPECT_EQ(picture.class_index, -1);
  const Input tokens = open_input(input_file("tokens.npy"));
  EXPECT_EQ(std::get<Tensor>(tokens.content).shape(), (Shape{5, 8}));
}

TEST(OpenInput, ReadsItemsOfDataSets) {
  const std::string locator = input_file("grey_set.npz") + "#1";
  const Input item = open_input(locator);
  EXPECT_EQ(item.label, "grey_set.npz[1]");
  EXPECT_EQ(item.locator, locator);
  EXPECT_EQ(item.class_index, 1);
  EXPECT_EQ(std::get<Image>(item.content).height, 5);
}

TEST(OpenInput, AFileMayHaveAMarkInItsName) {
  const TemporaryFolder folder;
  const auto file = folder.write("odd#3", read_bytes(input_file("rgb.png")));
  EXPECT_EQ(std::get<Image>(open_input(file.string()).content).width, 17);
}

TEST(OpenInput, ReadsTexts) {
  const TemporaryFolder folder;
  const auto file = folder.write("play.txt", "To be,\nör not");
  const auto text = [](const std::string& locator) {
    return std::get<Text>(open_input(locator).content);
  };
  EXPECT_EQ(text(file.string()).characters, "To be,\nör not");
  EXPECT_EQ(text(file.string() + "#3-8").characters, "be,\nö");
  EXPECT_EQ(open_input(file.string() + "#3-800").label, "play.txt[3–800]");
  EXPECT_EQ(text("text:To be: or#0").characters, "To be: or#0");
  EXPECT_EQ(open_input("text:To be").label, "“To be”");
  EXPECT_EQ(text("ids:3, 1,4").ids, (std::vector<std::int64_t>{3, 1, 4}));
  const auto ids = folder.write("ids.npy", [] {
    std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    header += std::string(117 - header.size(), ' ') + "\n";
    return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header +
           std::string("\x05\x00\x00\x00\x09\x00\x00\x00", 8);
  }());
  EXPECT_EQ(text(ids.string()).ids, (std::vector<std::int64_t>{5, 9}));
  const auto refused = [](const std::string& locator, const std::string& part) {
    const Error error =
        refusal_of([&] { (void)open_input(locator); }, testing::Message() << locator);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  const Text pair = text("pair:Who's there? ||| Nay, answer me.\n");
  EXPECT_EQ(pair.characters, "Who's there?");
  EXPECT_EQ(pair.second, "Nay, answer me.");
  EXPECT_EQ(open_input("pair:a|||b").label, "“a” + “b”");
  EXPECT_EQ(text(pair_locator("To be:", "or | not")).second, "or | not");
  EXPECT_FALSE(text("text:a ||| b").second);
  EXPECT_TRUE(is_written_out("pair:a ||| b"));
  refused("pair:a", "|||");
  refused("pair:a ||| b ||| c", "one |||");
  refused("pair:a ||||", "one |||");
  refused("pair: ||| b", "empty");
  refused("text:", "empty");
  refused("ids:1,x", "'x'");
  refused("ids:", "list of token ids is empty");
  refused(file.string() + "#40-50", "0-13");
  refused(folder.write("empty.txt", "").string(), "empty");
}

TEST(OpenInput, PutsAPictureToAText) {
  const std::string picture = source_folder() + "/sample_data/inputs/00_t_shirt.png";
  const Input input = open_input("ask:" + picture + " |||  What is this?\n");
  const Text& text = std::get<Text>(input.content);
  EXPECT_EQ(text.characters, "What is this?");
  ASSERT_EQ(text.pictures.size(), 1U);
  EXPECT_EQ(text.pictures[0]->width, 28);
  EXPECT_EQ(input.label, "00_t_shirt.png + “What is this?”");
  EXPECT_EQ(parts_of_question(question_locator("a.png", "b ||| c")),
            std::pair(std::string("a.png"), std::string("b ||| c")));
  EXPECT_FALSE(parts_of_question("text:ask:a ||| b"));
  const auto refused = [](const std::string& locator, const std::string& part) {
    const Error error = refusal_of([&] { (void)open_input(locator); });
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  };
  refused("ask:" + picture, "|||");
  refused("ask: ||| What?", "|||");
  refused("ask:text:words ||| What?", "PNG or JPEG");
  refused("ask:none.png ||| What?", "No such file");
}

TEST(OpenInput, PutsSeveralPicturesToAText) {
  const std::string folder = source_folder() + "/sample_data/inputs/";
  const std::string shirt = folder + "00_t_shirt.png", bag = folder + "08_bag.png";
  const Input input = open_input("ask:" + shirt + " + " + bag + "+" + shirt + " ||| Which?");
  const Text& text = std::get<Text>(input.content);
  ASSERT_EQ(text.pictures.size(), 3U);
  EXPECT_NE(text.pictures[0]->pixels, text.pictures[1]->pixels);
  EXPECT_EQ(text.pictures[0]->pixels, text.pictures[2]->pixels);
  EXPECT_EQ(input.label, "00_t_shirt.png + 08_bag.png + 00_t_shirt.png + “Which?”");
  // Without a text they are no input.
  const Error error = refusal_of([&] { (void)open_input(shirt + "+" + bag); });
  EXPECT_NE(std::string(error.what()).find("--prompt"), std::string::npos) << error.what();
}

TEST(OpenInput, TakesAFileWithAPlusInItsNameWhole) {
  const TemporaryFolder folder;
  const std::string file = folder.write("a+b.txt", "hello").string();
  EXPECT_EQ(picture_locators(file), std::vector<std::string>{file});
  EXPECT_EQ(picture_locators(file + "#1-3"), std::vector<std::string>{file + "#1-3"});
  EXPECT_EQ(std::get<Text>(open_input(file).content).characters, "hello");
  EXPECT_EQ(picture_locators("a.png + b.npz#3"), (std::vector<std::string>{"a.png", "b.npz#3"}));
  EXPECT_EQ(picture_locators("a.png+"), std::vector<std::string>{"a.png+"});
}

TEST(OpenInput, ListsTheKnownKinds) {
  const TemporaryFolder folder;
  const auto text = folder.write("a.words", "hello");
  const auto refused = [](const std::string& locator, ErrorKind kind, const std::string& part) {
    expect_refusal([&] { return open_input(locator); }, kind, part,
                   locator.substr(0, locator.rfind('#')));
  };
  refused(text.string(), ErrorKind::not_this_format, "PATH#INDEX");
  refused(folder.path().string(), ErrorKind::usage, "PATH#INDEX");
  refused((folder.path() / "none.png").string(), ErrorKind::io, "No such file");
  refused((folder.path() / "none.npz#2").string(), ErrorKind::io, "No such file");
  refused(text.string() + "#0", ErrorKind::not_this_format, "known kinds");
  refused(input_file("bytes.npy"), ErrorKind::unsupported, "uint8");
  refused(input_file("grey_set.npz") + "#4", ErrorKind::usage, "0 to 3");
}

}  // namespace
}  // namespace attnscope
