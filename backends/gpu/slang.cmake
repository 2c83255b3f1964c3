# Compiles backends/gpu/kernels/*.slang and embeds the code.
#
# concord_add_kernels(TARGET) adds a static library. Files whose names differ only in a trailing
# data type or capability (softmax.slang, softmax_f16.slang) form a family and share the generated
# header "backends/gpu/kernels/<family>.h".

option(CONCORD_KERNELS_PTX "Compile the kernels for CUDA too" OFF)

set(concord_slang_flags -warnings-disable 41012 -O0 -fvk-use-entrypoint-name -fp-mode precise)

function(concord_add_kernels target)
  if(CONCORD_KERNELS_PTX)
    message(FATAL_ERROR "CONCORD_KERNELS_PTX: the kernels are compiled to SPIR-V only so far")
  endif()
  set(source_dir ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
  set(work_dir ${CMAKE_CURRENT_BINARY_DIR}/spirv)
  set(out_dir ${CMAKE_CURRENT_BINARY_DIR}/generated/backends/gpu/kernels)
  file(MAKE_DIRECTORY ${work_dir} ${out_dir})
  file(GLOB sources CONFIGURE_DEPENDS ${source_dir}/*.slang)

  set(families "")
  foreach(source IN LISTS sources)
    get_filename_component(module ${source} NAME_WE)
    set(spirv ${work_dir}/${module}.spv)
    set(reflection ${work_dir}/${module}.json)
    set(stripped ${work_dir}/${module}.stripped.spv)
      add_custom_command(
      OUTPUT ${spirv} ${reflection} ${stripped}
      COMMAND ${CONCORD_SLANGC} ${source} -target spirv -profile spirv_1_5 ${concord_slang_flags}
              -I ${source_dir}/lib -o ${spirv} -reflection-json ${reflection}
              -depfile ${work_dir}/${module}.d
      COMMAND kernel_embed strip ${spirv} ${stripped}
      COMMAND ${CONCORD_SPIRV_VAL} --target-env vulkan1.2 ${stripped}
      DEPENDS ${source} kernel_embed
      DEPFILE ${work_dir}/${module}.d
      COMMENT "Compiling kernels ${module}.slang"
      VERBATIM)
    string(REGEX REPLACE "(_(f16|bf16|f64|i8|i64|dot8|coop|wave))+$" "" family ${module})
    list(APPEND families ${family})
    list(APPEND ${family}_modules "${module}=${spirv},${reflection}")
    list(APPEND ${family}_files ${spirv} ${reflection})
  endforeach()
  list(REMOVE_DUPLICATES families)

  set(generated "")
  foreach(family IN LISTS families)
    add_custom_command(
      OUTPUT ${out_dir}/${family}.h ${out_dir}/${family}.cpp
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
endfunction()
