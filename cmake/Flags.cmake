add_library(sweep_build_flags INTERFACE)
set(gnu_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wcast-align -Wcast-qual -Wformat=2 -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wextra-semi -Wold-style-cast -Wundef -Wdouble-promotion)
set(gcc_only -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
target_compile_options(sweep_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${gnu_warnings}>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:${gcc_only}>)
# GCC 12, once it inlines, warns of impossible overlaps in std::string's operator+ (GCC bug 105651, fixed in 13) and of
# empty std::optional's contents.
target_compile_options(sweep_build_flags INTERFACE
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized>)
target_compile_definitions(sweep_build_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(SWEEP_FUZZ)
  target_compile_options(sweep_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
if(SWEEP_SANITIZE)
  string(REPLACE ";" "," sanitizers "${SWEEP_SANITIZE}")
  target_compile_options(sweep_build_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${sanitizers} -fno-omit-frame-pointer>)
  if(SWEEP_SANITIZE MATCHES undefined AND NOT SWEEP_FUZZ)
    # A third of the compile time for what the address sanitizer finds as well.
    target_compile_options(sweep_build_flags INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr>)
  endif()
  target_link_options(sweep_build_flags INTERFACE -fsanitize=${sanitizers})
endif()
