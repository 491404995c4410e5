#include "record/artifacts.h"

#include "record/run_dir.h"
#include "support.h"
#include "util/error.h"
#include "util/sha256.h"

#include <gtest/gtest.h>

#include <thread>

namespace sweep::record {
namespace {

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const util::InfraError& error) {
    return error.code();
  }
  return "nothing thrown";
}

TEST(Artifacts, StoresUnderTheHashOfTheContent) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path() / "artifacts");
  const std::string name = artifacts.put("abc");
  EXPECT_EQ(name, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(artifacts.get(name), "abc");
  EXPECT_TRUE(artifacts.has(name));
  EXPECT_EQ(artifacts.put("abc"), name);
}

TEST(Artifacts, IsWriteOnce) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  const auto file = artifacts.path(artifacts.put("once"));
  const auto perms = std::filesystem::status(file).permissions();
  EXPECT_EQ(perms & std::filesystem::perms::owner_write, std::filesystem::perms::none);
  const auto written = std::filesystem::last_write_time(file);
  static_cast<void>(artifacts.put("once"));
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
}

TEST(Artifacts, NoticesChangedAndMissingContent) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  const std::string name = artifacts.put("true");
  write_whole(artifacts.path(name), "fals");
  EXPECT_EQ(code_of([&] { static_cast<void>(artifacts.get(name)); }), "E_ARTIFACT_CORRUPT");
  EXPECT_EQ(code_of([&] { static_cast<void>(artifacts.get(util::sha256_hex("other"))); }),
            "E_ARTIFACT_MISSING");
}

TEST(Artifacts, WhatWasDamagedIsMadeGoodByTheNextThatPutsIt) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  const auto file = artifacts.path(artifacts.put("once"));
  std::filesystem::remove(file);
  write_whole(file, "onci");
  EXPECT_EQ(code_of([&] { (void)artifacts.get(file.filename()); }), "E_ARTIFACT_CORRUPT");
  (void)artifacts.put("once");
  EXPECT_EQ(artifacts.get(file.filename()), "once");
}

TEST(Artifacts, RefusesNamesThatAreNoHash) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  for (const std::string& name :
       std::vector<std::string>{"", "../../etc/passwd", "AB", std::string(64, 'G')}) {
    EXPECT_EQ(code_of([&] { static_cast<void>(artifacts.get(name)); }), "E_ARTIFACT_NAME") << name;
  }
  EXPECT_FALSE(is_sha256(std::string(64, 'A')));
  EXPECT_TRUE(is_sha256(std::string(64, 'a')));
}

TEST(Artifacts, ServesManyWritersOfTheSameContent) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        static_cast<void>(artifacts.put("content " + std::to_string((k + i) % 20)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    EXPECT_TRUE(is_sha256(entry.path().filename().string())) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 20U);
}

TEST(Artifacts, SaysWhatToDoWhenTheDiskIsFull) {
  const util::TempDir dir;
  const Artifacts artifacts(dir.path());
  const testing::SmallDisk small(1000);
  EXPECT_EQ(code_of([&] { static_cast<void>(artifacts.put(std::string(5000, 'x'))); }),
            "E_RUN_WRITE");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Artifacts, SaysSoWhenAFileIsInTheWay) {
  const util::TempDir dir;
  write_whole(dir.path() / "artifacts", "a file");
  EXPECT_EQ(code_of([&] { const Artifacts artifacts(dir.path() / "artifacts"); }), "E_RUN_WRITE");
}

}  // namespace
}  // namespace sweep::record
