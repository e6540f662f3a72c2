# Flags for every file. -ffp-contract=off because law 1 wants the float operations that are written, fused only where fma is.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wno-ignored-attributes -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # g++ 12 warns wrongly about "text" + std::string
endif()
if(OUTRIDER_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
endif()
if(OUTRIDER_SANITIZE)
  add_compile_options(-fsanitize=${OUTRIDER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${OUTRIDER_SANITIZE})
endif()
if(OUTRIDER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage for the fuzzer in every floor, without its main()
endif()
find_program(OUTRIDER_CCACHE ccache)
if(OUTRIDER_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OUTRIDER_CCACHE})
endif()

# Files that may use a wider instruction set; nothing else is compiled with more than the x86-64 baseline.
set(OUTRIDER_AVX2_FLAGS -mavx2 -mfma -mf16c -mbmi2)
set(OUTRIDER_AVXVNNI_FLAGS ${OUTRIDER_AVX2_FLAGS} -mavxvnni)
# g++ 12 warns about its own AVX-512 header, hence the two -Wno.
set(OUTRIDER_AVX512_FLAGS -Wno-uninitialized -Wno-maybe-uninitialized -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
if(OUTRIDER_SANITIZE)  # the kernel templates take many minutes to compile with everything on; addresses and threads stay checked
  list(APPEND OUTRIDER_AVX2_FLAGS -O1 -fno-sanitize=undefined)
  list(APPEND OUTRIDER_AVXVNNI_FLAGS -O1 -fno-sanitize=undefined)
  list(APPEND OUTRIDER_AVX512_FLAGS -O1 -fno-sanitize=undefined)
endif()
