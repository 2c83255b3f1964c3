# Puts C++ files together into unity sources, so that headers are read once for many files:
#
#   awk -f unity.awk -v prefix=DIR/unity_ -v lines=N FILE…
#
# writes DIR/unity_1.cpp.new, … and prints what is to be compiled: DIR/unity_1.cpp, … and each file
# that has to stay alone. A unity source holds files of at most N lines in all, as copies that the
# compiler takes for the files themselves (#line).
#
# Files may use the same names in their anonymous namespaces: they are renamed in the copies. All
# headers come first, so that they see no other file's macros. A name that is also a member's, or that
# the file also declares outside, is not renamed; a file that has one which another file of the unity
# source mentions goes elsewhere. Alone stay files that define something before a header (those
# written with Highway) or hold raw strings.

# Splits a line into words and what stands between them: words[1 … n], gaps[1 … n + 1]. Comments
# and strings count as gaps.
function split_line(text,    n, gap, c, end) {
  n = 0
  gap = ""
  while (text != "") {
    if (match(text, /^[A-Za-z_][A-Za-z0-9_]*/)) {
      gaps[++n] = gap
      words[n] = substr(text, 1, RLENGTH)
      gap = ""
    } else if (match(text, /^"([^"\\]|\\.)*"/) || match(text, /^'([^'\\]|\\.)'/) ||
               match(text, /^\/\/.*/) || match(text, /^[0-9][A-Za-z0-9_.']*/) ||
               match(text, /^[^A-Za-z0-9_"'\/]+/) || match(text, /^./)) {
      gap = gap substr(text, 1, RLENGTH)
    }
    text = substr(text, RLENGTH + 1)
  }
  gaps[n + 1] = gap
  return n
}

# The name that a declaration at the left margin declares, as far as its first line tells.
function declared(text,    before) {
  gsub(/\[\[[a-z_]+\]\] */, "", text)
  while (gsub(/<[^<>]*>/, "", text)) {}
  if (match(text, /^(struct|class|union|enum class|enum) +[A-Za-z_][A-Za-z0-9_]*/)) {
    text = substr(text, 1, RLENGTH)
    sub(/^.* /, "", text)
    return text
  }
  sub(/^(using|namespace) +/, "", text)
  if (!match(text, /[A-Za-z_][A-Za-z0-9_]* *[=({;[]/)) return ""
  before = substr(text, 1, RSTART - 1)
  text = substr(text, RSTART, RLENGTH - 1)
  gsub(/ /, "", text)
  # A member of a class, or the use of a macro.
  if (before ~ /::$/ || (before == "" && text ~ /^[A-Z0-9_]+$/)) return ""
  return text
}

function own(path, name) {
  if (name == "" || name in keyword || (path, name) in owns) return
  owns[path, name] = 1
  names[path] = names[path] " " name
}

function read_file(path,    text, n, i, anonymous, enumerators, conditions, defined, part) {
  while ((getline text < path) > 0) {
    line[path, ++size[path]] = text
    if (text == "namespace {") { anonymous = 1; continue }
    if (text == "}  // namespace") { anonymous = 0; continue }
    if (!anonymous && text ~ /^(template <|(struct|class) [^;]*$)/) shown[path] = 1
    if (text ~ /^#if/) conditions++
    if (text ~ /^#endif/) conditions--
    if (text ~ /R"[A-Za-z_]*\(/) alone[path] = 1
    if (text ~ /^#include [<"].*\.def"/) continue
    if (text ~ /^#include/) {
      if (defined || conditions > 0) alone[path] = 1
      headers[path] = headers[path] text "\n"
      line[path, size[path]] = ""
      continue
    }
    if (text ~ /^# *(define|undef)/) {
      split(text, part, /[ (]+/)
      defined = 1
      macros[path, part[2]] = text ~ /define/
    } else if (text ~ /^(\[\[|[A-Za-z_])/) {
      if (anonymous) own(path, declared(text))
      else if (text !~ /^(using|namespace) /) member[path, declared(text)] = 1
      enumerators = anonymous && text ~ /^enum [^c]/
    }
    n = split_line(text)
    for (i = 1; i <= n; i++) {
      mentions[path, words[i]] = 1
      if (enumerators && (i > 1 || text ~ /^ /)) own(path, words[i])
      # An initialiser's ".name =" is left as it is.
      if (gaps[i] ~ /(\.|->|::)$/ && !(gaps[i] ~ /\.$/ && gaps[i + 1] ~ /^ = /))
        member[path, words[i]] = 1
    }
    if (text ~ /}/) enumerators = 0
  }
  close(path)
}

# Whether no name of A that has to keep its spelling is mentioned in B.
function keeps_apart(a, b,    n, i, list) {
  n = split(names[a], list, " ")
  for (i = 1; i <= n; i++)
    if ((b, list[i]) in mentions && (a, list[i]) in member) return 0
  return 1
}

function write_copy(path, suffix, out,    n, i, k, list, renamed, key, part, text) {
  n = split(names[path], list, " ")
  for (i = 1; i <= n; i++) if (!((path, list[i]) in member)) renamed[list[i]] = 1
  # A class or template outside the anonymous namespace may use what is in it, but in the file that is
  # compiled only, GCC thinks.
  if (path in shown)
    print "#if !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n#endif" > out
  printf "#line 1 \"%s\"\n", path > out
  for (k = 1; k <= size[path]; k++) {
    n = split_line(line[path, k])
    text = ""
    for (i = 1; i <= n; i++) {
      text = text gaps[i] words[i]
      if (words[i] in renamed && gaps[i] !~ /(\.|->|::)$/) text = text "_" suffix
    }
    print text gaps[n + 1] > out
  }
  for (key in macros) {
    split(key, part, SUBSEP)
    if (part[1] == path && macros[key]) printf "#undef %s\n", part[2] > out
  }
}

BEGIN {
  # Words of the language, and functions that are found by their arguments' types.
  n = split("alignas auto bool char class const constexpr constinit default double enum explicit " \
            "extern float for friend if inline int long namespace noexcept operator return short " \
            "signed static static_assert std struct switch template thread_local typename union " \
            "unsigned using void volatile while requires concept " \
            "PrintTo begin end from_json swap to_json", list, " ")
  for (i = 1; i <= n; i++) keyword[list[i]] = 1

  for (f = 1; f < ARGC; f++) {
    path = ARGV[f]
    read_file(path)
    if (path in alone) { print path; continue }
    for (u = 1; u <= units; u++) {
      if (total[u] + size[path] > lines) continue
      for (i = 1; i <= count[u]; i++)
        if (!keeps_apart(path, unit[u, i]) || !keeps_apart(unit[u, i], path)) break
      if (i > count[u]) break
    }
    if (u > units) units = u
    unit[u, ++count[u]] = path
    total[u] += size[path]
  }

  for (u = 1; u <= units; u++) {
    if (count[u] == 1) { print unit[u, 1]; continue }
    out = prefix u ".cpp.new"
    printf "" > out
    for (i = 1; i <= count[u]; i++) printf "%s", headers[unit[u, i]] > out
    for (i = 1; i <= count[u]; i++) write_copy(unit[u, i], i, out)
    close(out)
    print prefix u ".cpp"
  }
}
