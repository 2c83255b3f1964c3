# Embeds the HTML report's files: defines the strings that parity/html_assets.h declares.
# Run by CMake in script mode: OUTPUT, CSS, JS, CHART.
function(as_literal out file)
  file(READ "${file}" text HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()
as_literal(css "${CSS}")
as_literal(js "${JS}")
as_literal(chart "${CHART}")
file(WRITE "${OUTPUT}" "#include \"parity/html_assets.h\"

namespace concord::parity {
namespace {
const unsigned char css_bytes[] = {${css}};
const unsigned char js_bytes[] = {${js}};
const unsigned char chart_bytes[] = {${chart}};
std::string_view view(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}
}  // namespace

std::string_view report_css() { return view(css_bytes, sizeof css_bytes); }
std::string_view report_js() { return view(js_bytes, sizeof js_bytes); }
std::string_view chart_js() { return view(chart_bytes, sizeof chart_bytes); }

}  // namespace concord::parity
")
