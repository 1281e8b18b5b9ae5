#include "tests/app/support/layout_fixture.h"

#include <QWidget>
#include <filesystem>
#include <string>

#include "app/session/sample_data.h"
#include "tests/support/model_shapes.h"

namespace attnscope {

void LayoutTest::open_timm() {
  constexpr const char* kName = "vit_base_patch16_clip_quickgelu_224.metaclip_2pt5b_ft_in1k";
  const std::filesystem::path file = folder() / (std::string(kName) + ".safetensors");
  write_hashed_safetensors(
      file,
      timm_shapes(
          {.width = 48, .layers = 12, .image = 32, .patch = 8, .classes = 1000, .mlp_width = 48}));
  session().set_input((sample_data_folder() / "inputs/00_t_shirt.png").string());
  session().open(file, {{{"heads", "4"}}, {}});
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(session().trace(id(0))) << session().subjects()[0].error;
  session().overlay(id(0), {"adder", {{"identity", true}}});
  session().overlay(id(0), {"cosformer", {}});
  ASSERT_TRUE(wait_until_settled());
  ASSERT_TRUE(session().trace(id(2))) << session().subjects()[2].error;
}

void LayoutTest::rest() {
  constexpr int kStillPolls = 3;
  QList<QRect> before;
  int still = 0;
  EXPECT_TRUE(wait_until([&] {
    QList<QRect> places;
    for (const QWidget* widget : QApplication::allWidgets()) {
      if (widget->isVisible()) places << QRect(widget->mapToGlobal(QPoint()), widget->size());
    }
    still = window().settled() && places == before ? still + 1 : 0;
    before = places;
    return still >= kStillPolls;
  }));
}

}  // namespace attnscope
