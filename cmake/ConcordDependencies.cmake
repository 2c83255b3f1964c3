# Everything that is not ours: from the system, or from .deps/ where tools/setup.sh unpacked it.
# Sets, for the folders' CMakeLists:
#   DNNL::dnnl                         oneDNN 3, with CONCORD_CPU
#   protobuf::libprotobuf, protobuf::protoc
#   CONCORD_ONNX_PROTO                 path of ONNX's onnx-ml.proto
#   CONCORD_ONNX_TEST_DATA             ONNX's conformance folders (node, simple, light, real)
#   CONCORD_SLANGC                     slangc, empty if there is none
#   CONCORD_SPIRV_VAL                  spirv-val, empty if there is none
#   CONCORD_CHART_JS                   the minified Chart.js for the HTML report
#   hwy, CLI11::CLI11, nlohmann_json::nlohmann_json, fmt::fmt, spdlog::spdlog
#   CONCORD_RE2                        RE2, for regular expressions
#   CONCORD_HAVE_VULKAN, concord_volk  (volk's header and Vulkan's; the loader is opened at run time)
#   CONCORD_HAVE_CUDA, concord_cuda_headers, CONCORD_PTXAS, CONCORD_NVRTC_DIR

set(CONCORD_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Where tools/setup.sh unpacked to")

# concord_dep_folder(NAME OUT): the folder into which the lock file unpacks NAME.
function(concord_dep_folder name out)
  file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/deps.lock" lines REGEX "^[a-z]+ +[^ ]+ +${name} ")
  if(NOT lines MATCHES "^[a-z]+ +([^ ]+) ")
    message(FATAL_ERROR "cmake/deps.lock does not name ${name}")
  endif()
  set(${out} "${CONCORD_DEPS_DIR}/${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "cmake/deps.lock")

set(concord_setup_hint "Run tools/setup.sh, which installs and fetches what is missing.")

# --- oneDNN ---------------------------------------------------------------------------------------
if(CONCORD_CPU)
  find_package(dnnl 3 CONFIG QUIET)
  if(NOT dnnl_FOUND)
    concord_dep_folder(onednn-cpu-gomp onednn_folder)
    find_package(dnnl 3 CONFIG QUIET PATHS "${onednn_folder}" NO_DEFAULT_PATH)
  endif()
  if(NOT dnnl_FOUND)
    message(FATAL_ERROR "oneDNN 3 was not found. ${concord_setup_hint} "
      "CONCORD_CPU=OFF builds without it, and without the CPU backend.")
  endif()
endif()

# --- ONNX's schema and data, Slang ----------------------------------------------------------------
concord_dep_folder(onnx onnx_folder)
set(CONCORD_ONNX_PROTO "${onnx_folder}/onnx/onnx-ml.proto" CACHE FILEPATH "ONNX's schema")
set(CONCORD_ONNX_TEST_DATA "${onnx_folder}/onnx/backend/test/data" CACHE PATH
  "ONNX's conformance folders")
if(NOT EXISTS "${CONCORD_ONNX_PROTO}")
  message(FATAL_ERROR "ONNX's schema ${CONCORD_ONNX_PROTO} is not there. ${concord_setup_hint}")
endif()

concord_dep_folder(slangtorch slang_folder)
find_program(CONCORD_SLANGC slangc PATHS "${slang_folder}/bin")
find_program(CONCORD_SPIRV_VAL spirv-val)

# --- Debian's -------------------------------------------------------------------------------------
foreach(package IN ITEMS Protobuf hwy CLI11 nlohmann_json fmt spdlog)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. ${concord_setup_hint}")
  endif()
endforeach()
if(NOT Protobuf_PROTOC_EXECUTABLE)
  message(FATAL_ERROR "protoc was not found. ${concord_setup_hint}")
endif()
find_package(Threads REQUIRED)
find_library(CONCORD_RE2 re2)
find_path(CONCORD_RE2_INCLUDE re2/re2.h)
mark_as_advanced(CONCORD_RE2 CONCORD_RE2_INCLUDE)
if(NOT CONCORD_RE2 OR NOT CONCORD_RE2_INCLUDE)
  message(FATAL_ERROR "RE2 (libre2-dev) was not found. ${concord_setup_hint}")
endif()

find_file(CONCORD_CHART_JS chart.min.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH)
if(NOT CONCORD_CHART_JS)
  message(FATAL_ERROR "Chart.js (libjs-chart.js) was not found. ${concord_setup_hint}")
endif()

# --- Vulkan: headers only; the loader is opened at run time ---------------------------------------
set(CONCORD_HAVE_VULKAN OFF)
set(concord_vulkan_note "switched off")
if(NOT CONCORD_VULKAN STREQUAL "OFF")
  find_path(CONCORD_VULKAN_INCLUDE vulkan/vulkan.h)
  find_path(CONCORD_VOLK_INCLUDE volk.h)
  mark_as_advanced(CONCORD_VULKAN_INCLUDE CONCORD_VOLK_INCLUDE)
  set(missing "")
  foreach(pair IN ITEMS "CONCORD_VULKAN_INCLUDE|vulkan/vulkan.h" "CONCORD_VOLK_INCLUDE|volk.h"
                        "CONCORD_SLANGC|slangc" "CONCORD_SPIRV_VAL|spirv-val")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 variable)
    list(GET pair 1 what)
    if(NOT ${variable})
      list(APPEND missing ${what})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    set(concord_vulkan_note "missing: ${missing}")
    if(CONCORD_VULKAN STREQUAL "ON")
      message(FATAL_ERROR "CONCORD_VULKAN=ON, but these are missing: ${missing}. ${concord_setup_hint}")
    endif()
  else()
    set(CONCORD_HAVE_VULKAN ON)
    set(concord_vulkan_note "kernels by ${CONCORD_SLANGC}")
    add_library(concord_volk INTERFACE)
    target_include_directories(concord_volk SYSTEM INTERFACE
      "${CONCORD_VULKAN_INCLUDE}" "${CONCORD_VOLK_INCLUDE}")
    target_compile_definitions(concord_volk INTERFACE VK_NO_PROTOTYPES)
    target_link_libraries(concord_volk INTERFACE ${CMAKE_DL_LIBS})
  endif()
endif()

# --- CUDA: headers, NVRTC for slangc's PTX, ptxas to check it; driver and cuBLASLt at run time ----
set(CONCORD_HAVE_CUDA OFF)
set(concord_cuda_note "switched off")
if(NOT CONCORD_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  find_program(CONCORD_PTXAS ptxas HINTS "${CUDAToolkit_BIN_DIR}" /usr/local/cuda/bin)
  find_library(CONCORD_NVRTC nvrtc HINTS "${CUDAToolkit_LIBRARY_DIR}" /usr/local/cuda/lib64)
  mark_as_advanced(CONCORD_NVRTC)
  set(missing "")
  foreach(pair IN ITEMS "CUDAToolkit_FOUND|the CUDA toolkit" "CONCORD_PTXAS|ptxas"
                        "CONCORD_NVRTC|libnvrtc" "CONCORD_SLANGC|slangc" "CONCORD_SPIRV_VAL|spirv-val")
    string(REPLACE "|" ";" pair "${pair}")
    list(GET pair 0 variable)
    list(GET pair 1 what)
    if(NOT ${variable})
      list(APPEND missing ${what})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    set(concord_cuda_note "missing: ${missing}")
    if(CONCORD_CUDA STREQUAL "ON")
      message(FATAL_ERROR "CONCORD_CUDA=ON, but these are missing: ${missing}")
    endif()
  else()
    set(CONCORD_HAVE_CUDA ON)
    set(concord_cuda_note "toolkit ${CUDAToolkit_VERSION}")
    get_filename_component(CONCORD_NVRTC_DIR "${CONCORD_NVRTC}" DIRECTORY)
    add_library(concord_cuda_headers INTERFACE)
    target_include_directories(concord_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(concord_cuda_headers INTERFACE ${CMAKE_DL_LIBS})
  endif()
endif()

function(concord_print_summary)
  message(STATUS "Concord ${PROJECT_VERSION}: ${CMAKE_CXX_COMPILER_ID} "
    "${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE}, sanitizers: "
    "${CONCORD_SANITIZE}, OpenMP: ${CONCORD_OPENMP}, ccache: ${CONCORD_CCACHE}")
  if(CONCORD_CPU)
    message(STATUS "  oneDNN ${dnnl_VERSION} (${dnnl_DIR})")
  else()
    message(STATUS "  CPU: OFF (switched off)")
  endif()
  message(STATUS "  Vulkan: ${CONCORD_HAVE_VULKAN} (${concord_vulkan_note})")
  message(STATUS "  CUDA: ${CONCORD_HAVE_CUDA} (${concord_cuda_note})")
endfunction()
