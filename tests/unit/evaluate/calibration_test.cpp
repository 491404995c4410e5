#include "evaluate/calibration.h"

#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace sweep::evaluate {
namespace {

Calibration example() {
  Calibration made;
  made.made = 1000;
  made.version = "1.2";
  made.device.name = "NVIDIA H200";
  made.device.uuid = "GPU-1/../x";
  made.device.driver = "580.1";
  CalibratedBand band;
  band.name = "copy 10 us";
  band.seconds = 1e-5;
  band.measured_seconds = 1.1e-5;
  band.sessions = 5;
  band.half_width = 0.004;
  band.ratio_q95 = 0.003;
  band.half_width_q95 = 0.005;
  band.verdicts = {{"PASS_EQUIVALENT", 5}};
  made.bands = {band, band, band};
  made.bands[1].name = "copy 1 ms";
  made.bands[1].seconds = 1e-3;
  made.bands[1].half_width = 0.001;
  made.bands[2].name = "gemm 180 us";
  made.bands[2].half_width = 0.5;
  made.figures = {{"DRAM copy", 4e12, "B/s", ""}};
  made.controls = {{"hostile neighbour", true, {0.999, 1, 1.001}, "text"}};
  made.absent = {{"x", "y"}};
  return made;
}

TEST(Calibration, TheCpuDeviceHasNoDriverInItsFileName) {
  device::Info info;
  info.uuid = "cpu";
  EXPECT_EQ(calibration_file("/c", info), "/c/calibration/cpu.json");
}

TEST(Calibration, IsStoredByDeviceAndDriverAndReadBack) {
  const util::TempDir cache;
  Calibration made = example();
  store_calibration(cache.path(), made);
  EXPECT_EQ(made.id.size(), 16U);
  const FoundCalibration found = find_calibration(cache.path(), made.device);
  ASSERT_TRUE(found.calibration) << found.reason;
  EXPECT_EQ(to_json(*found.calibration), to_json(made));
  EXPECT_EQ(calibration_file(cache.path(), made.device).parent_path(),
            cache.path() / "calibration");
  device::Info newer = made.device;
  newer.driver = "590.2";
  EXPECT_THAT(find_calibration(cache.path(), newer).reason, ::testing::HasSubstr("another driver"));
  device::Info other = made.device;
  other.uuid = "GPU-2";
  EXPECT_FALSE(find_calibration(cache.path(), other).calibration);
}

TEST(Calibration, AlteredOrBrokenFilesAreNotBelieved) {
  const util::TempDir cache;
  Calibration made = example();
  store_calibration(cache.path(), made);
  const auto file = calibration_file(cache.path(), made.device);
  const nlohmann::json good = to_json(made);
  const auto refused = [&](const std::string& text) {
    util::write_file_atomic(file, text);
    const FoundCalibration found = find_calibration(cache.path(), made.device);
    return !found.calibration && !found.reason.empty();
  };
  nlohmann::json body = good;
  body["bands"][0]["half_width"] = 0.0001;
  EXPECT_TRUE(refused(body.dump())) << "the id is of other content";
  for (const char* value : {"-0.1", "2", "\"x\"", "null", "1e999"}) {
    std::string text = good.dump();
    text.replace(text.find("\"half_width\":0.004"), 18, std::string("\"half_width\":") + value);
    EXPECT_TRUE(refused(text)) << value;
  }
  body = good;
  for (int i = 0; i < 2000; ++i) {
    body["figures"].push_back(good["figures"][0]);
  }
  EXPECT_TRUE(refused(body.dump())) << "too many entries";
  body = good;
  body.erase("device");
  EXPECT_TRUE(refused(body.dump()));
  body = good;
  body["schema"] = 2;
  EXPECT_TRUE(refused(body.dump()));
  EXPECT_TRUE(refused("[]"));
  EXPECT_TRUE(refused(std::string(2U << 20U, ' ') + good.dump())) << "larger than 1 MiB";
}

TEST(Calibration, TheBandNextToACallGivesItsFloor) {
  const auto floors = floors_of(example(), 1000 + 86400);
  ASSERT_TRUE(floors);
  EXPECT_DOUBLE_EQ(floors->age_seconds, 86400);
  ASSERT_EQ(floors->bands.size(), 2U) << "copies only";
  EXPECT_DOUBLE_EQ(half_width_for(*floors, 1e-6), 0.004);
  EXPECT_DOUBLE_EQ(half_width_for(*floors, 0.99e-4), 0.004);
  EXPECT_DOUBLE_EQ(half_width_for(*floors, 1.01e-4), 0.001) << "nearer by ratio";
  EXPECT_DOUBLE_EQ(half_width_for(*floors, 10), 0.001);
  Calibration none = example();
  none.bands.clear();
  EXPECT_FALSE(floors_of(none, 2000));
}

}  // namespace
}  // namespace sweep::evaluate
