#!/usr/bin/env bash
# Runs clang-tidy over our translation units, as the Release build compiles them.
#
#   tools/check_tidy.sh [--minutes N] [FILE…]
#     --minutes N   start no further file after N minutes, and say how many were left out
#
# A file that was clean is not looked at again until it, a file that it includes, or .clang-tidy
# changes; what was clean is remembered in ${XDG_CACHE_HOME:-~/.cache}/concord-tidy. The files that
# changed last in git come first; a clone without earlier commits gets a sample that differs from
# commit to commit.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
minutes=600
if [ "${1:-}" = --minutes ]; then
  minutes=$2
  shift 2
fi
build=$root/build/release
# Generated headers must be there, and the build's record of which file includes which.
tools/build.sh release

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

units() {
  if [ $# -gt 0 ]; then
    printf '%s\n' "$@"
    return
  fi
  {
    if git rev-parse --quiet --verify HEAD~1 >/dev/null; then
      git log -n 60 --format= --name-only
    fi
    git ls-files -- '*.cpp' | shuf --random-source=<(yes "$(git rev-parse HEAD)")
  } |
    grep -E '^(graph|importer|backends|parity|tools|tests)/.*\.cpp$' | awk '!seen[$0]++' |
    while read -r file; do
      ! grep -q -e "^$root/$file"$'\t' "$results/includes.tsv" || echo "$file"
    done
}

# Leaves a mark beside $results: FILE.known, FILE.failed or FILE.left.
tidy_one() {
  local file=$1 key mark includes
  mark=$results/${file//\//__}
  if [ "$(date +%s)" -ge "$deadline" ]; then
    echo "$file" >"$mark.left"
    return
  fi
  includes=$(grep -m1 -e "^$root/$file"$'\t' "$results/includes.tsv" || echo "$root/$file")
  key=$(tr '\t' '\n' <<<"$includes" | xargs -d '\n' cat .clang-tidy tests/.clang-tidy 2>/dev/null |
    cat - <(echo "$file $tidy_version") | sha256sum | cut -d' ' -f1)
  if [ -e "$cache/$key" ]; then
    touch "$cache/$key" "$mark.known"
  elif clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$file" \
    >"$mark.text" 2>&1; then
    touch "$cache/$key"
  else
    grep -v -E '^[0-9]+ warnings? (generated|treated)' "$mark.text" >"$mark.failed" || true
    echo "[tidy] $file has complaints" >&2
  fi
}
export -f tidy_one
tidy_version=$(clang-tidy --version | sha256sum)
deadline=$(($(date +%s) + minutes * 60))
export root build cache results deadline tidy_version

mapfile -t files < <(units "$@")
echo "[tidy] looking at ${#files[@]} files"
printf '%s\n' "${files[@]}" | xargs -P "${CONCORD_JOBS:-$(nproc)}" -I{} bash -c 'tidy_one {}'

count() { find "$results" -name "*.$1" | wc -l; }
find "$cache" -type f -mtime +60 -delete
echo "[tidy] ${#files[@]} files: $(count failed) with complaints, $(count known) unchanged since" \
  "they were clean, $(count left) left out for lack of time"
if [ "$(count failed)" -gt 0 ]; then
  cat "$results"/*.failed
  exit 1
fi
