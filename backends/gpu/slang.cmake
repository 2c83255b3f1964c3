# Compiles backends/gpu/kernels/*.slang and embeds the code.
#
# concord_add_kernels(TARGET) adds a static library. Files whose names differ only in a trailing
# data type or capability (softmax.slang, softmax_f16.slang) form a family and share the generated
# header "backends/gpu/kernels/<family>.h". With CUDA, TARGET_ptx holds the kernels' PTX, and every
# PTX file is assembled once; kernels_sm_75.tsv (kernels_sm_80.tsv for those of matrix units) in the
# build folder is what ptxas says of them.

set(concord_slang_flags -warnings-disable 41012 -O0 -fp-mode precise)
# The floor of the CUDA backend; drivers compile it for what they find. Kernels for matrix units are
# for those that have them for 16 bits and sums of f32 (mma.sync.m16n8k16).
set(concord_ptx_arch 75)
set(concord_coop "_coop$")
set(concord_coop_arch 80)
# Kernels for CPU drivers; NVRTC needs half a minute for each file.
set(concord_spirv_only "^matmul_wave")
set(concord_cached ${CMAKE_CURRENT_SOURCE_DIR}/embed/cached.sh)
execute_process(COMMAND ${CONCORD_SLANGC} -version
  OUTPUT_VARIABLE concord_versions ERROR_VARIABLE concord_versions)
string(STRIP "slangc ${concord_versions}" concord_versions)
string(APPEND concord_versions ", CUDA ${CUDAToolkit_VERSION}")

# Adds the compilation of one .slang file to SPIR-V. Kernels for matrix units are emulated: Debian's
# spirv-val knows none, and no driver here has any; the software driver of the tests runs them so.
function(concord_compile_spirv source)
  get_filename_component(module ${source} NAME_WE)
  set(out ${work_dir}/${module})
  set(emulated "")
  if(module MATCHES "${concord_coop}")
    set(emulated -DCONCORD_EMULATED)
  endif()
  add_custom_command(
    OUTPUT ${out}.spv ${out}.json ${out}.stripped.spv
    COMMAND bash ${concord_cached} ${source} ${out} "spv json stripped.spv" "${concord_versions}"
            ${CONCORD_SLANGC} ${source} -target spirv -profile spirv_1_5
            -fvk-use-entrypoint-name ${concord_slang_flags} ${emulated}
            -I ${source_dir}/lib -o ${out}.spv -reflection-json ${out}.json -depfile ${out}.d
            -- $<TARGET_FILE:kernel_embed> strip ${out}.spv ${out}.stripped.spv
            -- ${CONCORD_SPIRV_VAL} --target-env vulkan1.2 ${out}.stripped.spv
    DEPENDS ${source} kernel_embed ${concord_cached}
    DEPFILE ${out}.d
    COMMENT "Compiling kernels ${module}.slang"
    VERBATIM)
endfunction()

# To PTX, which is assembled to see that it can be, and what it takes.
function(concord_compile_ptx source arch)
  get_filename_component(module ${source} NAME_WE)
  set(out ${ptx_dir}/${module})
  set(assemble ${CMAKE_CURRENT_SOURCE_DIR}/embed/assemble.sh)
  add_custom_command(
    OUTPUT ${out}.ptx ${out}.log
    COMMAND bash ${concord_cached} ${source} ${out} "ptx log" "${concord_versions}"
            ${CMAKE_COMMAND} -E env "LD_LIBRARY_PATH=${CONCORD_NVRTC_DIR}"
            ${CONCORD_SLANGC} ${source} -target ptx ${concord_slang_flags}
            -Xnvrtc -arch=compute_${arch} -Xnvrtc --fmad=false
            -I ${source_dir}/lib -o ${out}.raw.ptx -depfile ${out}.d
            -- $<TARGET_FILE:kernel_embed> ptx ${out}.raw.ptx ${out}.ptx
            -- sh ${assemble} ${CONCORD_PTXAS} ${arch} ${out}.ptx ${out}.log
    DEPENDS ${source} kernel_embed ${assemble} ${concord_cached}
    DEPFILE ${out}.d
    COMMENT "Compiling kernels ${module}.slang for CUDA"
    VERBATIM)
endfunction()

function(concord_add_kernels target)
  set(source_dir ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
  set(work_dir ${CMAKE_CURRENT_BINARY_DIR}/spirv)
  set(ptx_dir ${CMAKE_CURRENT_BINARY_DIR}/ptx)
  set(out_dir ${CMAKE_CURRENT_BINARY_DIR}/generated/backends/gpu/kernels)
  file(MAKE_DIRECTORY ${work_dir} ${ptx_dir} ${out_dir})
  file(GLOB sources CONFIGURE_DEPENDS ${source_dir}/*.slang)

  set(families "")
  set(ptx_families "")
  set(ptx_logs_${concord_ptx_arch} "")
  set(ptx_logs_${concord_coop_arch} "")
  foreach(source IN LISTS sources)
    get_filename_component(module ${source} NAME_WE)
    set(arch ${concord_ptx_arch})
    if(module MATCHES "${concord_coop}")
      set(arch ${concord_coop_arch})
      if(NOT CONCORD_HAVE_CUDA)
        continue()
      endif()
    endif()
    string(REGEX REPLACE "(_(f16|bf16|f64|i8|i64|dot8|copied|coop|wave))+$" "" family ${module})
    list(APPEND families ${family})
    concord_compile_spirv(${source})
    set(files ${work_dir}/${module}.spv ${work_dir}/${module}.json)
    if(CONCORD_HAVE_CUDA AND NOT module MATCHES "${concord_spirv_only}")
      concord_compile_ptx(${source} ${arch})
      list(APPEND files ${ptx_dir}/${module}.ptx)
      list(APPEND ptx_logs_${arch} ${ptx_dir}/${module}.log)
      list(APPEND ptx_families ${family})
    endif()
    list(APPEND ${family}_files ${files})
    list(JOIN files "," files)
    list(APPEND ${family}_modules "${module}=${files}")
  endforeach()
  list(REMOVE_DUPLICATES families)
  list(REMOVE_DUPLICATES ptx_families)

  set(generated "")
  set(generated_ptx "")
  foreach(family IN LISTS families)
    set(outputs ${out_dir}/${family}.h ${out_dir}/${family}.cpp)
    if(family IN_LIST ptx_families)
      list(APPEND outputs ${out_dir}/${family}.ptx.cpp)
      list(APPEND generated_ptx ${out_dir}/${family}.ptx.cpp)
    endif()
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND kernel_embed family ${family} ${out_dir} ${${family}_modules}
      DEPENDS ${${family}_files} kernel_embed
      COMMENT "Embedding kernels ${family}"
      VERBATIM)
    list(APPEND generated ${out_dir}/${family}.cpp)
    list(APPEND headers ${out_dir}/${family}.h)
  endforeach()
  add_custom_command(
    OUTPUT ${out_dir}/kernel_table.cpp
    COMMAND kernel_embed table ${out_dir}/kernel_table.cpp ${families}
    DEPENDS kernel_embed ${sources}
    VERBATIM)

  add_library(${target} STATIC kernel.cpp ${generated} ${headers} ${out_dir}/kernel_table.cpp)
  target_include_directories(${target} PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/generated)
  concord_compile_options(${target})
  if(NOT CONCORD_HAVE_CUDA)
    return()
  endif()

  set(uses "")
  foreach(arch IN ITEMS ${concord_ptx_arch} ${concord_coop_arch})
    set(table ${PROJECT_BINARY_DIR}/kernels_sm_${arch}.tsv)
    add_custom_command(
      OUTPUT ${table}
      COMMAND kernel_embed uses ${table} ${source_dir}/spills.txt ${ptx_logs_${arch}}
      DEPENDS kernel_embed ${ptx_logs_${arch}} ${source_dir}/spills.txt
      VERBATIM)
    list(APPEND uses ${table})
  endforeach()
  add_custom_command(
    OUTPUT ${out_dir}/ptx_table.cpp
    COMMAND kernel_embed ptx-table ${out_dir}/ptx_table.cpp ${ptx_families}
    DEPENDS kernel_embed ${uses}
    VERBATIM)
  add_library(${target}_ptx STATIC ${generated_ptx} ${out_dir}/ptx_table.cpp)
  target_link_libraries(${target}_ptx PUBLIC ${target})
  concord_compile_options(${target}_ptx)
endfunction()
