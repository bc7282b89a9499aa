# Finds nanoflann.hpp. Defines the target knnmi_nanoflann and the variable KNNMI_NANOFLANN_SOURCE, which says where the header
# came from and is a compile definition of the target too.
#
# No third-party source is kept in this repository. The first of these that has a usable header is taken:
#   1. the variable or environment variable NANOFLANN_INCLUDE_DIR
#   2. a header on the usual include paths (Debian, Homebrew, conda, CMAKE_PREFIX_PATH)
#   3. a CMake package (vcpkg, Conan, an own installation)
#   4. the Python package napf, whose wheel carries the header: installed, or else downloaded with pip
#   5. the upstream repository at a pinned commit: last, because CMake stops when a download fails
set(KNNMI_NAPF_VERSION 0.1.0)
set(KNNMI_NAPF_HEADER_SHA256 86657c999f6adeae3edcbaf00cd0d46aa20992dede9c52f7db9f5d7639ddf2f4) # nanoflann 1.5.5
set(KNNMI_NANOFLANN_COMMIT 92911c0bc382e4b287330219bc720ca2b30b2857) # nanoflann 1.9.0

# Sets `result` to whether `folder` holds a header of version 1.4.2 (Debian's 1.4.3 calls itself that) or newer.
function(knnmi_has_nanoflann folder result)
  set(${result} FALSE PARENT_SCOPE)
  if(NOT EXISTS "${folder}/nanoflann.hpp")
    return()
  endif()
  file(STRINGS "${folder}/nanoflann.hpp" version REGEX "#define NANOFLANN_VERSION 0x")
  string(REGEX MATCH "0x[0-9A-Fa-f]+" version "${version}")
  math(EXPR version "${version} + 0")
  if(version GREATER_EQUAL 322) # 0x142
    set(${result} TRUE PARENT_SCOPE)
  else()
    message(STATUS "nanoflann: ${folder}/nanoflann.hpp is older than 1.4.2 and is passed over")
  endif()
endfunction()

function(knnmi_find_nanoflann)
  # A macro, so that its return() ends this function.
  macro(found source folder)
    set(KNNMI_NANOFLANN_SOURCE "${source}" PARENT_SCOPE)
    set(KNNMI_NANOFLANN_FOLDER "${folder}" PARENT_SCOPE)
    return()
  endmacro()

  # 1. the variable
  set(given "${NANOFLANN_INCLUDE_DIR}")
  if(NOT given)
    set(given "$ENV{NANOFLANN_INCLUDE_DIR}")
  endif()
  if(given)
    knnmi_has_nanoflann("${given}" usable)
    if(NOT usable)
      message(FATAL_ERROR "NANOFLANN_INCLUDE_DIR is ${given}, which holds no nanoflann.hpp of version 1.4.2 or newer.")
    endif()
    found("NANOFLANN_INCLUDE_DIR" "${given}")
  endif()

  # 2. the usual include paths; not cached, for an isolated build leaves behind paths that no longer exist
  find_path(on_path nanoflann.hpp NO_CACHE)
  knnmi_has_nanoflann("${on_path}" usable)
  if(usable)
    found("include path" "${on_path}")
  endif()

  # 3. a CMake package
  find_package(nanoflann CONFIG QUIET)
  if(TARGET nanoflann::nanoflann)
    get_target_property(in_package nanoflann::nanoflann INTERFACE_INCLUDE_DIRECTORIES)
    knnmi_has_nanoflann("${in_package}" usable)
    if(usable)
      found("CMake package" "${in_package}")
    endif()
  endif()

  # 4. napf; its header is copied to the build folder, for pip removes a build environment after use
  find_package(Python 3.9 QUIET COMPONENTS Interpreter)
  if(Python_Interpreter_FOUND)
    execute_process(
      COMMAND
        "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/napf_header.py" ${KNNMI_NAPF_VERSION}
        ${KNNMI_NAPF_HEADER_SHA256} "${PROJECT_BINARY_DIR}/napf/nanoflann.hpp"
      RESULT_VARIABLE failed
    )
    if(NOT failed)
      found("napf ${KNNMI_NAPF_VERSION}" "${PROJECT_BINARY_DIR}/napf")
    endif()
  endif()

  # 5. upstream; SOURCE_SUBDIR names a folder without a CMakeLists.txt, so that only the header is taken
  message(STATUS "nanoflann: trying its repository; to use a copy of your own, set NANOFLANN_INCLUDE_DIR to its folder")
  include(FetchContent)
  FetchContent_Declare(
    nanoflann
    GIT_REPOSITORY https://github.com/jlblancoc/nanoflann.git
    GIT_TAG ${KNNMI_NANOFLANN_COMMIT}
    SOURCE_SUBDIR include
  )
  FetchContent_MakeAvailable(nanoflann)
  found("repository ${KNNMI_NANOFLANN_COMMIT}" "${nanoflann_SOURCE_DIR}/include")
endfunction()

knnmi_find_nanoflann()
message(STATUS "nanoflann: ${KNNMI_NANOFLANN_SOURCE}, ${KNNMI_NANOFLANN_FOLDER}")
find_package(Threads REQUIRED) # the header includes <future>
add_library(knnmi_nanoflann INTERFACE)
target_include_directories(knnmi_nanoflann SYSTEM INTERFACE "${KNNMI_NANOFLANN_FOLDER}")
target_compile_definitions(knnmi_nanoflann INTERFACE KNNMI_NANOFLANN_SOURCE="${KNNMI_NANOFLANN_SOURCE}")
target_link_libraries(knnmi_nanoflann INTERFACE Threads::Threads)
