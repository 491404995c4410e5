#include "child.h"
#include "fixture.h"

#include <cstdio>

namespace sweep::gpu {
namespace {

class Wash : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) {
      return;
    }
    found_ = on().allocate(4);
    sms_ = static_cast<std::uint32_t>(on().info().sm_count);
  }

  // Marked words that `find` sees after `leave` (and the washer between them).
  [[nodiscard]] std::uint32_t survivors(device::Module& module,
                                        const device::Launch& leave,
                                        const device::Launch& find,
                                        bool washed) {
    const auto first = prepare(module, {leave});
    const auto second = prepare(module, {find});
    on().fill_words(found_->address(), 4, 0);
    run(*first);
    if (washed) {
      on().wash();
    }
    run(*second);
    return download<std::uint32_t>(found_->address(), 1)[0];
  }

  void expect_local_is_washed(const std::string& words, std::uint32_t threads_a_sm) {
    const auto module =
        load(compile(kGhosts, {"leave_local<" + words + ">", "find_local<" + words + ">"}));
    ASSERT_NE(module, nullptr);
    const std::array<std::uint32_t, 3> grid{sms_ * threads_a_sm / 1024, 1, 1};
    const device::Launch leave{"leave_local<" + words + ">", grid, {1024, 1, 1}, 0, {}};
    const device::Launch find{
        "find_local<" + words + ">", grid, {1024, 1, 1}, 0, {bytes_of(found_->address())}};
    const auto before = on().free_bytes();
    on().wash();  // compiled and its local memory there before the control
    on().synchronize();
    const auto unwashed = survivors(*module, leave, find, false);
    const auto washed = survivors(*module, leave, find, true);
    std::printf("figure local_%s_words_survive_unwashed %u of %u\n",
                words.c_str(),
                unwashed,
                grid[0] * 1024 * static_cast<unsigned>(std::stoul(words)));
    std::printf("figure local_%s_words_survive_washed %u\n", words.c_str(), washed);
    std::printf("figure local_%s_washer_bytes %zd\n",
                words.c_str(),
                static_cast<ssize_t>(before) - static_cast<ssize_t>(on().free_bytes()));
    EXPECT_GT(unwashed, 0U) << "the control finds nothing, so the test proves nothing";
    EXPECT_EQ(washed, 0U);
  }

  std::unique_ptr<device::Buffer> found_;
  std::uint32_t sms_ = 0;
};

TEST_F(Wash, LeavesNothingInSharedMemory) {
  const auto module = load(compile(kGhosts, {"leave_shared", "find_shared"}));
  ASSERT_NE(module, nullptr);
  const auto bytes = static_cast<std::uint32_t>(on().info().max_shared_bytes);
  const std::uint32_t words = bytes / 4;
  const device::Launch leave{"leave_shared", {sms_, 1, 1}, {1024, 1, 1}, bytes, {bytes_of(words)}};
  const device::Launch find{"find_shared",
                            {sms_, 1, 1},
                            {1024, 1, 1},
                            bytes,
                            {bytes_of(words), bytes_of(found_->address())}};
  on().wash();
  on().synchronize();
  const auto unwashed = survivors(*module, leave, find, false);
  const auto washed = survivors(*module, leave, find, true);
  std::printf("figure shared_words_survive_unwashed %u of %u\n", unwashed, sms_ * words);
  std::printf("figure shared_words_survive_washed %u\n", washed);
  EXPECT_GT(unwashed, 0U) << "the control finds nothing, so the test proves nothing";
  EXPECT_EQ(washed, 0U);
}

TEST_F(Wash, RunsWithAnotherProcessesCodeAndNoCompiler) {
  const util::Fd file = util::make_memfd("own code");
  write_image(file.get(), on().own_code());
  const ChildResult result = run_child("wash", {}, file.get());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "ok, nvrtc not opened\n");
}

TEST_F(Wash, LeavesNothingInLocalMemory) {
  expect_local_is_washed("64", 2048);
}

TEST_F(Wash, LeavesNothingInDeepLocalMemory) {
  expect_local_is_washed("5000", 2048);
}

TEST_F(Wash, LeavesNothingInLocalMemoryOfHalfFilledMultiprocessors) {
  expect_local_is_washed("1000", 1024);
}

}  // namespace
}  // namespace sweep::gpu
