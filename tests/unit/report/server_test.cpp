#include "report/server.h"

#include "util/fd.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sweep::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The run's folder: report/ is served, what lies beside it is not.
class ReportServer : public ::testing::Test {
 protected:
  void SetUp() override {
    put("report/index.html", "<p>front");
    put("report/t/a.html", "<p>inner");
    put("secret.txt", "SECRET");
    std::filesystem::create_symlink(folder_.path() / "secret.txt",
                                    folder_.path() / "report/link.html");
  }

  void TearDown() override {
    if (server_) {
      server_->stop();
      thread_.join();
    }
  }

  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void serve(const std::string& host = "127.0.0.1") {
    ServerOptions options;
    options.folder = folder_.path() / "report";
    options.host = host;
    options.port = 18765;
    server_ = std::make_unique<Server>(options);
    thread_ = std::thread([this] { server_->run(); });
  }

  [[nodiscard]] std::string here(const std::string& name = "127.0.0.1") const {
    return fmt::format("{}:{}", name, server_->port());
  }

  // None when it is refused.
  [[nodiscard]] util::Fd connected() const {
    util::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      return {};
    }
    return socket;
  }

  // The whole answer to one request, sent byte for byte.
  [[nodiscard]] std::string ask(const std::string& target,
                                const std::string& host,
                                const std::string& more = "",
                                const std::string& method = "GET") const {
    const util::Fd socket = connected();
    if (!socket) {
      return "no connection";
    }
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n", method, target, host, more);
    if (::write(socket.get(), request.data(), request.size()) !=
        static_cast<ssize_t>(request.size())) {
      return "not sent";
    }
    std::string answer;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 1; size > 0;) {
      size = ::read(socket.get(), buffer.data(), buffer.size());
      answer.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
    return answer;
  }

  util::TempDir folder_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

TEST_F(ReportServer, ServesThePagesWithAPolicy) {
  serve();
  const std::string front = ask("/", here());
  EXPECT_THAT(front, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(front, HasSubstr("<p>front"));
  EXPECT_THAT(front, HasSubstr("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(ask("/t/a.html", here("localhost")), HasSubstr("<p>inner"));
  EXPECT_THAT(ask("/", here(), "", "HEAD"), Not(HasSubstr("<p>front")));
  EXPECT_THAT(ask("/", here(), "", "DELETE"), Not(StartsWith("HTTP/1.1 2")));
}

// Compressing a page takes longer than sending it over the loopback device.
TEST_F(ReportServer, SendsPagesAsTheyAre) {
  const std::string page = "<p>front" + std::string(100'000, '.') + "end";
  put("report/index.html", page);
  serve();
  const std::string front = ask("/", here(), "Accept-Encoding: gzip, deflate, br\r\n");
  EXPECT_THAT(front, HasSubstr("\r\n\r\n" + page));
  EXPECT_THAT(front, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(front, HasSubstr("Content-Length: 100011\r\n"));
  put("report/empty.html", "");
  EXPECT_THAT(ask("/empty.html", here()), StartsWith("HTTP/1.1 200"));
}

TEST_F(ReportServer, AnUnchangedPageCostsA304) {
  serve();
  const std::string first = ask("/", here());
  const std::size_t begin = first.find("ETag: ") + 6;
  const std::string tag = first.substr(begin, first.find('\r', begin) - begin);
  EXPECT_EQ(tag.size(), 34U) << first;
  const std::string again = ask("/", here(), "If-None-Match: " + tag + "\r\n");
  EXPECT_THAT(again, StartsWith("HTTP/1.1 304"));
  EXPECT_THAT(again, Not(HasSubstr("<p>front")));
  put("report/index.html", "<p>later");
  EXPECT_THAT(ask("/", here(), "If-None-Match: " + tag + "\r\n"), HasSubstr("<p>later"));
}

// Two readers' browsers keep up to twelve connections open between requests.
TEST_F(ReportServer, AnswersWhileConnectionsAreIdle) {
  serve();
  std::vector<util::Fd> idle;
  for (int i = 0; i < 12; ++i) {
    idle.push_back(connected());
    ASSERT_TRUE(idle.back());
  }
  EXPECT_THAT(ask("/", here()), StartsWith("HTTP/1.1 200"));
  for (const util::Fd& socket : idle) {
    char byte = 0;
    EXPECT_EQ(::recv(socket.get(), &byte, 1, MSG_DONTWAIT), -1) << "one had to end first";
  }
}

TEST_F(ReportServer, HasNoIconAndSaysSoWithoutAnError) {
  serve();
  EXPECT_THAT(ask("/favicon.ico", here()), StartsWith("HTTP/1.1 204"));
  EXPECT_THAT(ask("/favicon.ico", "elsewhere:80"), StartsWith("HTTP/1.1 421"));
}

TEST_F(ReportServer, AllowsNoStyleOrScriptInAPage) {
  serve();
  EXPECT_THAT(ask("/", here()), Not(HasSubstr("unsafe")));
}

TEST_F(ReportServer, ServesNoFileWhoseNameBeginsWithADot) {
  put("report/.rows", "SECRET");
  put("report/t/.page.x", "SECRET");
  serve();
  for (const char* target : {"/.rows", "/t/.page.x", "/t/../.rows", "/%2erows", "//.rows"}) {
    EXPECT_THAT(ask(target, here()), Not(HasSubstr("SECRET"))) << target;
  }
}

TEST_F(ReportServer, OtherHostNamesGetNothing) {
  serve();
  for (const std::string& host : {here("evil.example"),
                                  here("10.0.0.7"),
                                  std::string("127.0.0.1"),
                                  std::string("127.0.0.1:1"),
                                  here("x127.0.0.1"),
                                  std::string()}) {
    EXPECT_THAT(ask("/", host), StartsWith("HTTP/1.1 421")) << host;
  }
}

TEST_F(ReportServer, NothingOutsideItsFolderIsServed) {
  serve();
  for (const char* target : {"/../secret.txt",
                             "/..%2fsecret.txt",
                             "/%2e%2e/secret.txt",
                             "/t/../../secret.txt",
                             "/....//secret.txt",
                             "/link.html",
                             "/t",
                             "/%00",
                             "//etc/passwd"}) {
    const std::string answer = ask(target, here());
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 404")) << target;
    EXPECT_THAT(answer, Not(HasSubstr("SECRET"))) << target;
  }
}

// With serve_host = "0.0.0.0" and --allow-remote a reader comes by address or by the machine's
// name.
TEST_F(ReportServer, BoundToEveryAddressItKnowsAddressesAndItsOwnName) {
  serve("0.0.0.0");
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  for (const std::string& host :
       {here("10.0.0.7"), here("[fe80::1]"), here("localhost"), here(name.data())}) {
    EXPECT_THAT(ask("/", host), StartsWith("HTTP/1.1 200")) << host;
  }
  EXPECT_THAT(ask("/", here("evil.example")), StartsWith("HTTP/1.1 421"));
  EXPECT_THAT(ask("/", here("10.0.0.7.evil.example")), StartsWith("HTTP/1.1 421"));
}

TEST_F(ReportServer, AStopBeforeItServesIsKept) {
  ServerOptions options;
  options.folder = folder_.path() / "report";
  options.port = 18765;
  Server server(options);
  server.stop();
  server.run();  // returns at once
}

TEST_F(ReportServer, ATakenPortMeansTheNextOne) {
  serve();
  ServerOptions options;
  options.folder = folder_.path() / "report";
  options.port = server_->port();
  const Server second(options);
  EXPECT_GT(second.port(), server_->port());
}

}  // namespace
}  // namespace sweep::report
