// As the standard header, without a guard: each inclusion defines it anew.
#undef assert
#define assert(...)                     \
  ((__VA_ARGS__) ? static_cast<void>(0) \
                 : sweep_simt_fail("assertion failed: " #__VA_ARGS__, __FILE__, __LINE__))
