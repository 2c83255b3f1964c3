# Embeds the files of HTML pages: defines the strings that parity/html_assets.h declares.
# Run by CMake in script mode: OUTPUT, FOLDER, CHART.
function(as_literal out file)
  file(READ "${file}" text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
set(code "#include \"parity/html_assets.h\"

namespace concord::parity {
namespace {
std::string_view view(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
")
foreach(asset report_css page_js report_js devices_js chart_js)
  string(REPLACE "_" "." file "${asset}")
  if(asset STREQUAL "chart_js")
    as_literal(bytes "${CHART}")
  else()
    as_literal(bytes "${FOLDER}/${file}")
  endif()
  string(APPEND code "const unsigned char ${asset}_bytes[] = {${bytes}};\n")
endforeach()
string(APPEND code "}  // namespace\n\n")
foreach(asset report_css page_js report_js devices_js chart_js)
  string(APPEND code
    "std::string_view ${asset}() { return view(${asset}_bytes, sizeof ${asset}_bytes); }\n")
endforeach()
file(WRITE "${OUTPUT}" "${code}\n}  // namespace concord::parity\n")
