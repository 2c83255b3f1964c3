#!/usr/bin/env bash
# Runs clang-tidy over our translation units, as the clang build compiles them (many files at once).
#
#   tools/check_tidy.sh [--minutes N] [FILE…]
#     --minutes N   start no further unit after N minutes, and say how many were left out
#
# What was clean is not looked at again until it, a file that it includes, or .clang-tidy changes;
# it is remembered in ${XDG_CACHE_HOME:-~/.cache}/concord-tidy. What changed last in git comes
# first; a clone without earlier commits gets an order that differs from commit to commit.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
minutes=600
if [ "${1:-}" = --minutes ]; then
  minutes=$2
  shift 2
fi
build=$root/build/clang
# Generated headers must be there, and the build's record of which unit includes which files.
tools/build.sh clang -k 0 || echo "[tidy] the clang build fails; looking at what it could compile"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/concord-tidy
mkdir -p "$cache"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# includes.tsv: translation unit, then all of our files that it includes, by absolute path.
ninja -C "$build" -t deps | awk -v OFS='\t' '
  /^[^ ].*: #deps/ { if (line != "") print line; line = ""; next }
  NF { line = line (line == "" ? "" : OFS) $1 }
  END { if (line != "") print line }' |
  (cd "$build" && while IFS=$'\t' read -ra files; do
    realpath --no-symlinks -- "${files[@]}" | grep -e "^$root/" | grep -v "^$root/.deps" |
      paste -s -d '\t'
  done) | sort -u >"$results/includes.tsv"

# units.tsv: one of our files, then the unit that it is compiled in.
cut -f 1 "$results/includes.tsv" | while read -r unit; do
  case $unit in
    "$build"/unity/*)
      sed -n "s|^#line 1 \"$root/\(.*\)\"$|\1\t$unit|p" "$unit" ;;
    "$build"/*) ;;
    *) printf '%s\t%s\n' "${unit#"$root/"}" "$unit" ;;
  esac
done >"$results/units.tsv"

# The files to look at, the most urgent first.
wanted() {
  if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
    return
  fi
  if git rev-parse --quiet --verify HEAD~1 >/dev/null; then
    git log -n 60 --format= --name-only
  fi
  git ls-files -- '*.cpp' | shuf --random-source=<(yes "$(git rev-parse HEAD)")
}

units() {
  wanted "$@" | awk -F '\t' '
    NR == FNR { unit[$1] = unit[$1] $2 "\n"; next }
    { printf "%s", unit[$1] }' "$results/units.tsv" - | awk '!seen[$0]++'
}

# Names places in a unity source as places in the files that it was put together from.
by_original_file() {
  awk -v unit="$1" '
    NR == FNR {
      if ($0 ~ /^#line 1 "/) { split($0, part, "\""); from[++n] = FNR; file[n] = part[2] }
      next
    }
    index($0, unit ":") == 1 {
      split(substr($0, length(unit) + 2), part, ":")
      for (i = n; i >= 1 && from[i] >= part[1]; i--) {}
      if (i > 0) {
        $0 = file[i] ":" (part[1] - from[i]) substr($0, length(unit ":" part[1]) + 1)
      }
    }
    { print }' "$1" -
}

# Leaves a mark beside $results: UNIT.known, UNIT.failed or UNIT.left.
tidy_one() {
  local unit=$1 key mark
  mark=$results/${unit//\//__}
  if [ "$(date +%s)" -ge "$deadline" ]; then
    touch "$mark.left"
    return
  fi
  key=$(grep -m1 -e "^$unit"$'\t' "$results/includes.tsv" | tr '\t' '\n' |
    xargs -d '\n' cat .clang-tidy tests/.clang-tidy |
    cat - <(echo "$unit $tidy_version") | sha256sum | cut -d' ' -f1)
  if [ -e "$cache/$key" ]; then
    touch "$cache/$key" "$mark.known"
  elif clang-tidy --quiet -p "$build" "$unit" >"$mark.text" 2>&1; then
    touch "$cache/$key"
  else
    by_original_file "$unit" <"$mark.text" |
      grep -v -E '^[0-9]+ warnings? (generated|treated)' >"$mark.failed" || true
    echo "[tidy] ${unit#"$root/"} has complaints" >&2
  fi
}
export -f tidy_one by_original_file
tidy_version=$(clang-tidy --version | sha256sum)
deadline=$(($(date +%s) + minutes * 60))
export root build cache results deadline tidy_version

mapfile -t todo < <(units "$@")
echo "[tidy] looking at $(wc -l <"$results/units.tsv") files in ${#todo[@]} units"
printf '%s\n' "${todo[@]}" | xargs -P "${CONCORD_JOBS:-$(nproc)}" -I{} bash -c 'tidy_one {}'

count() { find "$results" -name "*.$1" | wc -l; }
find "$cache" -type f -mtime +60 -delete
echo "[tidy] ${#todo[@]} units: $(count failed) with complaints, $(count known) unchanged since" \
  "they were clean, $(count left) left out for lack of time"
if [ "$(count failed)" -gt 0 ]; then
  cat "$results"/*.failed
  exit 1
fi
