#include "wire/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::wire {
namespace {

using nlohmann::json;

struct Ends {
  Channel ours;
  util::Fd raw;
};

Ends ends(std::size_t max_bytes = 4096) {
  auto [a, b] = Channel::make_pair();
  return {Channel(std::move(a), "peer", max_bytes), std::move(b)};
}

std::string framed(const std::string& text) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(text.size() >> (8U * i)));
  }
  return bytes + text;
}

// The code of the WireError that `action` throws, or "none".
template <typename Action>
std::string code_of(Action action) {
  try {
    action();
  } catch (const WireError& error) {
    return error.code();
  }
  return "none";
}

std::string receive_code(const std::string& bytes, bool close = true) {
  Ends pair = ends();
  util::write_all(pair.raw.get(), bytes, "test");
  if (close) {
    pair.raw.reset();
  }
  return code_of([&] { (void)pair.ours.receive(0.05); });
}

TEST(Channel, CarriesMessagesBothWays) {
  auto [a, b] = Channel::make_pair();
  Channel left(std::move(a), "right");
  Channel right(std::move(b), "left");
  const json first = {
      {"do", "map"}, {"bytes", 123}, {"text", "\xC3\xA4\n"}, {"list", {1, 2.5, nullptr}}};
  left.send(first);
  left.send({{"n", 2}});
  EXPECT_EQ(right.receive(5).body, first);
  EXPECT_EQ(right.receive(5).body, (json{{"n", 2}}));
  std::thread answer([&right = right] { right.send({{"echo", right.receive(5).body}}); });
  EXPECT_EQ(left.ask({{"q", 1}}, 5).body, (json{{"echo", {{"q", 1}}}}));
  answer.join();
}

TEST(Channel, FormatOnTheWire) {
  Ends pair = ends();
  pair.ours.send({{"a", 1}});
  std::array<char, 11> bytes{};
  ASSERT_EQ(util::read_all(pair.raw.get(), bytes.data(), bytes.size(), "test"), bytes.size());
  EXPECT_EQ(std::string(bytes.data(), bytes.size()), std::string("\x07\0\0\0{\"a\":1}", 11));
}

TEST(Channel, CarriesMessagesLargerThanTheSocketBuffer) {
  auto [a, b] = Channel::make_pair();
  Channel left(std::move(a), "right", 32 << 20);
  Channel right(std::move(b), "left", 32 << 20);
  const json big = {{"text", std::string(2 << 20, 'x')}};
  std::thread sender([&left = left, &big] { left.send(big); });
  EXPECT_EQ(right.receive(30).body, big);
  sender.join();
}

TEST(Channel, PassesDescriptors) {
  auto [a, b] = Channel::make_pair();
  Channel left(std::move(a), "right");
  Channel right(std::move(b), "left");
  const util::Pipe pipe = util::make_pipe();
  const std::array<int, 2> fds = {pipe.read.get(), pipe.write.get()};
  left.send({{"fds", 2}}, fds);
  Message message = right.receive(5, 2);
  ASSERT_EQ(message.fds.size(), 2U);
  EXPECT_NE(::fcntl(message.fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  util::write_all(message.fds[1].get(), "hi", "test");
  std::array<char, 2> text{};
  EXPECT_EQ(util::read_all(pipe.read.get(), text.data(), 2, "test"), 2U);
}

TEST(Channel, RefusesUnexpectedDescriptors) {
  auto [a, b] = Channel::make_pair();
  Channel left(std::move(a), "right");
  Channel right(std::move(b), "left");
  const util::Pipe pipe = util::make_pipe();
  const std::array<int, 2> fds = {pipe.read.get(), pipe.write.get()};
  left.send({{"n", 1}}, fds);
  EXPECT_EQ(code_of([&] { (void)right.receive(5, 1); }), "E_WIRE_FDS");
  EXPECT_EQ(code_of([&] { (void)right.receive(5, 2); }), "E_WIRE_CLOSED");
}

TEST(Channel, FloodOfDescriptorsLeavesNoneOpen) {
  const auto open_fds = [] {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
  };
  const int before = open_fds();
  {
    Ends pair = ends();
    const util::Pipe pipe = util::make_pipe();
    const std::vector<int> fds(util::kMaxPassedFds, pipe.read.get());
    // Spread over the bytes of one message.
    const std::string bytes = framed("{\"a\":1}");
    for (const char c : bytes) {
      (void)util::send_with_fds(pair.raw.get(), std::string_view(&c, 1), fds);
    }
    EXPECT_EQ(code_of([&] { (void)pair.ours.receive(1, util::kMaxPassedFds); }), "E_WIRE_FDS");
  }
  EXPECT_EQ(open_fds(), before);
}

TEST(Channel, HostileBytesGiveTypedErrors) {
  EXPECT_EQ(receive_code(""), "E_WIRE_CLOSED");
  EXPECT_EQ(receive_code(std::string("\x05\0", 2)), "E_WIRE_CLOSED");
  EXPECT_EQ(receive_code(std::string("\x05\0\0\0{", 5)), "E_WIRE_CLOSED");
  EXPECT_EQ(receive_code("", false), "E_WIRE_TIMEOUT");
  EXPECT_EQ(receive_code(std::string("\x05\0\0\0{", 5), false), "E_WIRE_TIMEOUT");
  EXPECT_EQ(receive_code("\xFF\xFF\xFF\xFF"), "E_WIRE_SIZE");
  EXPECT_EQ(receive_code(std::string("\x01\x10\0\0", 4)), "E_WIRE_SIZE");  // 4097
  for (const char* text : {"",
                           "null",
                           "[1]",
                           "1",
                           "\"x\"",
                           "{",
                           "{\"a\":}",
                           "{\"a\":1}x",
                           "{\"a\":1,\"a\":2}",
                           "{\"b\":{\"a\":1,\"a\":2}}",
                           "{\"a\":1e999}",
                           "{\"a\":\"\xFF\"}",
                           "{\"a\":\"\xC0\x80\"}",
                           "{\"a\":NaN}",
                           "{\"a\":01}",
                           "{'a':1}",
                           "{\"a\":\"\n\"}",
                           "/**/{}"}) {
    EXPECT_EQ(receive_code(framed(text)), "E_WIRE_JSON") << text;
  }
}

TEST(Channel, DepthIsBounded) {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(static_cast<std::size_t>(depth - 1), '[') +
           std::string(static_cast<std::size_t>(depth - 1), ']') + "}";
  };
  EXPECT_NO_THROW((void)parse_object(nested(kMaxDepth), "test"));
  EXPECT_THROW((void)parse_object(nested(kMaxDepth + 1), "test"), WireError);
  EXPECT_THROW((void)parse_object(nested(1000000), "test"), WireError);
}

TEST(Channel, SendIsBoundedAndTimed) {
  Ends small = ends(10);
  EXPECT_EQ(code_of([&] { small.ours.send({{"text", "more than ten bytes"}}); }), "E_WIRE_SIZE");
  Ends full = ends(64 << 20);
  const json big = {{"text", std::string(4 << 20, 'x')}};
  EXPECT_EQ(code_of([&] { full.ours.send(big, {}, 0.05); }), "E_WIRE_TIMEOUT");
  Ends gone = ends();
  gone.raw.reset();
  EXPECT_EQ(code_of([&] {
              gone.ours.send({{"a", 1}});
              gone.ours.send({{"a", 1}});
            }),
            "E_WIRE_CLOSED");
  Ends odd = ends();
  EXPECT_EQ(code_of([&] { odd.ours.send(json::array({1})); }), "E_WIRE_JSON");
}

TEST(Channel, OutsideTextInOurMessagesIsMadeValid) {
  auto [a, b] = Channel::make_pair();
  Channel left(std::move(a), "right");
  Channel right(std::move(b), "left");
  left.send({{"log", "\xFF ok"}});
  EXPECT_EQ(right.receive(5).body.at("log"), "\xEF\xBF\xBD ok");
}

TEST(Channel, RandomBytesNeverCrash) {
  std::mt19937_64 random(20240501);
  const std::string seed = R"({"do":"map","n":[1,2,{"x":"\u00e4"}],"f":-1.5e3,"t":true})";
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = seed;
    const std::uint64_t edits = random() % 6;
    for (std::uint64_t i = 0; i < edits; ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 8));
      }
      if (text.empty()) {
        text = "{";
      }
    }
    std::string bytes = framed(text);
    if (random() % 8 == 0) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    const std::string code = receive_code(bytes);
    EXPECT_TRUE(code == "none" || code.starts_with("E_WIRE_")) << code;
    accepted += code == "none" ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 2900);
}

TEST(Field, ReadsTypesAndRefusesOthers) {
  const json body = parse_object(
      R"({"b":true,"s":"x","i":-3,"u":18446744073709551615,"d":1.5,"w":2,"l":[1,2],"n":null,"m":[1,"x"]})",
      "test");
  EXPECT_TRUE(field<bool>(body, "b"));
  EXPECT_EQ(field<std::string>(body, "s"), "x");
  EXPECT_EQ(field<std::int64_t>(body, "i"), -3);
  EXPECT_EQ(field<std::uint64_t>(body, "u"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(field<double>(body, "d"), 1.5);
  EXPECT_EQ(field<double>(body, "w"), 2);
  EXPECT_EQ(field<std::vector<std::int64_t>>(body, "l"), (std::vector<std::int64_t>{1, 2}));
  const auto refused = [&](auto read) { return code_of(read) == "E_WIRE_FIELD"; };
  EXPECT_TRUE(refused([&] { (void)field<bool>(body, "missing"); }));
  EXPECT_TRUE(refused([&] { (void)field<bool>(body, "i"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::string>(body, "n"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::uint64_t>(body, "i"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::int64_t>(body, "u"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::int64_t>(body, "d"); }));
  EXPECT_TRUE(refused([&] { (void)field<double>(body, "s"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::vector<double>>(body, "m"); }));
  EXPECT_TRUE(refused([&] { (void)field<std::vector<double>>(body, "s"); }));
}

}  // namespace
}  // namespace sweep::wire
