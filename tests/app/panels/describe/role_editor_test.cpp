// Describing an unknown file by hand: drag and drop, keys, trial run, saving and opening.
#include "app/panels/describe/role_editor.h"

#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTreeWidget>

#include "app/panels/describe/role_trees.h"
#include "tests/app/support/cut_text.h"
#include "tests/app/support/window_fixture.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

/// A ViT of three blocks with unknown names; "thing" gives no hint.
NamedShapes own_names() {
  NamedShapes shapes = {{"cls", {1, 1, 24}},
                        {"where", {1, 17, 24}},
                        {"stem.weight", {24, 3, 8, 8}},
                        {"stem.bias", {24}}};
  for (const char* number : {"0", "1", "2"}) {
    const std::string block = std::string("tower.") + number + ".";
    for (const auto& [name, shape] : NamedShapes{{"n1.g", {24}},
                                                 {"n1.b", {24}},
                                                 {"thing", {72, 24}},
                                                 {"attn.proj.weight", {24, 24}},
                                                 {"n2.g", {24}},
                                                 {"n2.b", {24}},
                                                 {"up.weight", {96, 24}},
                                                 {"down.weight", {24, 96}}}) {
      shapes.emplace_back(block + name, shape);
    }
  }
  shapes.emplace_back("last.g", Shape{24});
  shapes.emplace_back("last.b", Shape{24});
  shapes.emplace_back("classes.weight", Shape{10, 24});
  return shapes;
}

class RoleEditorTest : public WindowTest {
 protected:
  RoleEditor& open() {
    file_ = folder() / "own.safetensors";
    write_hashed_safetensors(file_, own_names());
    window().open_file(file_);
    EXPECT_TRUE(wait_until([this] { return window().findChild<RoleEditor*>() != nullptr; }));
    return *window().findChild<RoleEditor*>();
  }

  /// Sends the events of a drag that ends over the role.
  static void drop(RoleEditor& editor, const std::string& pattern, const std::string& role) {
    auto* roles = editor.findChild<RoleTree*>();
    QTreeWidgetItem* target = nullptr;
    for (QTreeWidgetItemIterator at(roles); *at != nullptr; ++at) {
      if ((*at)->data(0, Qt::UserRole).toString().toStdString() == role) target = *at;
    }
    ASSERT_NE(target, nullptr) << role;
    roles->scrollToItem(target);
    QMimeData data;
    data.setData("application/x-attnscope-tensor", QByteArray::fromStdString(pattern));
    const QPointF at = roles->visualItemRect(target).center();
    QDragEnterEvent enter(at.toPoint(), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(roles->viewport(), &enter);
    QDragMoveEvent move(at.toPoint(), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(roles->viewport(), &move);
    ASSERT_TRUE(move.isAccepted());
    QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(roles->viewport(), &event);
  }

  static std::string pattern_of(const RoleEditor& editor, const std::string& role) {
    const auto found = editor.draft().roles.find(role);
    return found == editor.draft().roles.end() ? "nothing" : found->second.pattern;
  }

  static void say_what_no_tensor_shows(RoleEditor& editor) {
    auto* heads = editor.findChild<QLineEdit*>("member_heads");
    ASSERT_NE(heads, nullptr);
    QTest::keyClicks(heads, "3");
    editor.findChild<QComboBox*>("member_norm_position")->setCurrentText("pre");
  }

  static QString status(const RoleEditor& editor) {
    return editor.findChild<QLabel*>("role_status")->text();
  }

  std::filesystem::path file_;
};

TEST_F(RoleEditorTest, OpensForAnUnknownFileAndProposes) {
  RoleEditor& editor = open();
  EXPECT_TRUE(editor.isVisible());
  EXPECT_EQ(pattern_of(editor, "patch.weight"), "stem.weight");
  EXPECT_EQ(pattern_of(editor, "layer.mlp1.weight"), "tower.{layer}.up.weight");
  EXPECT_EQ(pattern_of(editor, "layer.qkv.weight"), "tower.{layer}.thing");
  auto* roles = editor.findChild<RoleTree*>();
  const auto rows = roles->findItems("qkv.weight", Qt::MatchExactly | Qt::MatchRecursive);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_TRUE(rows[0]->text(2).contains("guess")) << rows[0]->text(2).toStdString();
  EXPECT_TRUE(status(editor).contains("3 layers")) << status(editor).toStdString();
}

TEST_F(RoleEditorTest, ATensorIsDroppedOnItsRoleAndCheckedAtOnce) {
  RoleEditor& editor = open();
  say_what_no_tensor_shows(editor);
  ASSERT_TRUE(wait_until([&] { return status(editor).contains("✓"); }, 10))
      << status(editor).toStdString();
  editor.clear_role("tower.{layer}.thing");
  ASSERT_TRUE(wait_until([&] { return status(editor).contains("⚠"); }, 5));
  EXPECT_FALSE(editor.findChild<QPushButton*>("role_save")->isEnabled());
  drop(editor, "tower.{layer}.thing", "layer.qkv.weight");
  EXPECT_EQ(pattern_of(editor, "layer.qkv.weight"), "tower.{layer}.thing");
  ASSERT_TRUE(wait_until([&] { return !status(editor).contains("thing"); }, 5));
}

TEST_F(RoleEditorTest, TheKeysDoAllOfIt) {
  RoleEditor& editor = open();
  auto* tensors = editor.findChild<TensorTree*>();
  tensors->choose("tower.{layer}.thing");
  QTest::keyClick(tensors, Qt::Key_Delete);
  EXPECT_EQ(pattern_of(editor, "layer.qkv.weight"), "nothing");
  auto* chooser = editor.findChild<QComboBox*>("role_chooser");
  const int place = chooser->findText("layer.qkv.weight");
  ASSERT_GT(place, 0) << "its shape fits";
  EXPECT_EQ(chooser->findText("layer.norm1.weight"), -1) << "its shape does not";
  chooser->setFocus();
  for (int step = 0; step < place; ++step) QTest::keyClick(chooser, Qt::Key_Down);
  emit chooser->activated(chooser->currentIndex());
  EXPECT_EQ(pattern_of(editor, "layer.qkv.weight"), "tower.{layer}.thing");
}

TEST_F(RoleEditorTest, IsTriedSavedAndOpened) {
  session().set_input(source_folder() + "/sample_data/inputs/09_ankle_boot.png");
  RoleEditor& editor = open();
  EXPECT_TRUE(status(editor).contains("how many heads")) << status(editor).toStdString();
  say_what_no_tensor_shows(editor);
  auto* save = editor.findChild<QPushButton*>("role_save");
  ASSERT_TRUE(wait_until([&] { return save->isEnabled(); }, 10)) << status(editor).toStdString();
  const std::filesystem::path description = folder() / "own.description.json";
  answer_file_dialog(description);
  QTest::mouseClick(save, Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] {
    return session().subjects().size() == 1 && session().subjects()[0].subject.model != nullptr;
  })) << session().subjects()[0].error;
  EXPECT_TRUE(std::filesystem::exists(description));
  EXPECT_EQ(session().subjects()[0].subject.model->spec().layer.attention.heads, 3);
  EXPECT_EQ(session().subjects()[0].options.description, description);
}

TEST_F(RoleEditorTest, NeverWritesOverTheWeights) {
  RoleEditor& editor = open();
  EXPECT_FALSE(editor.save(file_));
  EXPECT_GT(std::filesystem::file_size(file_), 1000U);
  EXPECT_TRUE(editor.findChild<QLabel*>("role_tried")->isVisible());
}

TEST_F(RoleEditorTest, NoTextIsCut) {
  RoleEditor& editor = open();
  for (const QSize size : {QSize(1024, 700), QSize(1120, 760), QSize(1500, 900)}) {
    editor.resize(size);
    QTest::qWait(30);
    const QStringList cut = cut_texts(editor);
    EXPECT_TRUE(cut.isEmpty()) << size.width() << "\n" << cut.join("\n").toStdString();
  }
}

class StructureTest : public WindowTest {};

TEST_F(StructureTest, ShowsTheSelectedModelsTensorsAndFindsThem) {
  window().open_file(source_folder() + "/sample_data/models/fashion-softmax.h5");
  window().show_panel("structure");
  auto* tree = child<QTreeWidget>("structure_tree");
  ASSERT_TRUE(wait_until([&] { return tree->topLevelItemCount() > 0; }));
  const auto layers = tree->findItems("Layers", Qt::MatchExactly);
  ASSERT_EQ(layers.size(), 1);
  EXPECT_EQ(layers[0]->childCount(), 6);
  const auto norms = tree->findItems("norm1.weight", Qt::MatchExactly | Qt::MatchRecursive);
  EXPECT_EQ(norms.size(), 6);
  EXPECT_FALSE(norms[0]->text(1).isEmpty());
  EXPECT_TRUE(norms[0]->text(2).startsWith("["));
  QTest::keyClicks(child<QLineEdit>("structure_words"), "norm2");
  EXPECT_TRUE(norms[0]->isHidden());
  const auto found = tree->findItems("norm2.weight", Qt::MatchExactly | Qt::MatchRecursive);
  EXPECT_FALSE(found[0]->isHidden());
}

}  // namespace
}  // namespace attnscope
