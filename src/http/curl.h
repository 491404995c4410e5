#pragma once

#include "http/client.h"
#include "util/error.h"

#include <curl/curl.h>

#include <csignal>
#include <string>

// Owners of libcurl's handles and its errors in our words. Only for http's own files.
namespace sweep::http {

// Once per process; InfraError E_HTTP_INIT.
void start_curl();

struct FreeEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

struct FreeMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};

// A libcurl header list.
class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  ~HeaderList() { curl_slist_free_all(list_); }

  void add(const std::string& line) {
    curl_slist* grown = curl_slist_append(list_, line.c_str());
    if (grown == nullptr)
      throw util::InfraError({"http", "out of memory for request headers", ""}, "E_HTTP_INIT");
    list_ = grown;
  }

  [[nodiscard]] curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// What a finished transfer's code means.
[[nodiscard]] Fault fault_of(CURLcode code);

// InfraError E_HTTP_INIT unless libcurl takes the option.
template <class T>
void set(CURL* easy, CURLoption option, T value) {
  if (const CURLcode code = curl_easy_setopt(easy, option, value); code != CURLE_OK)
    throw util::InfraError({"http",
                            std::string("libcurl refused an option: ") + curl_easy_strerror(code),
                            "libcurl 7.88 or later is needed"},
                           "E_HTTP_INIT");
}

// InfraError E_HTTP_INIT unless the code is CURLM_OK.
void check(CURLMcode code);

// OpenSSL writes to sockets that a peer has left, and libcurl keeps SIGPIPE away only by changing
// the whole process: it is blocked in this thread, and one that came is taken back.
class NoPipeSignal {
 public:
  NoPipeSignal();
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal();

 private:
  sigset_t before_{};
  bool pending_ = false;
};

// Takes the easy handle out of the multi handle, whatever happens between.
class Attached {
 public:
  Attached(CURLM* multi, CURL* easy) : multi_(multi), easy_(easy) {
    check(curl_multi_add_handle(multi, easy));
  }

  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  ~Attached() { curl_multi_remove_handle(multi_, easy_); }

 private:
  CURLM* multi_;
  CURL* easy_;
};

}  // namespace sweep::http
