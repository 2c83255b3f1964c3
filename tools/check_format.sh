#!/usr/bin/env bash
# Says which C++ files clang-format would change, and mends them with --fix.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
mapfile -t files < <(git ls-files -- '*.h' '*.cpp')
[ ${#files[@]} -gt 0 ] || exit 0
if [ "${1:-}" = --fix ]; then
  clang-format -i "${files[@]}"
else
  clang-format --dry-run -Werror "${files[@]}" ||
    { echo "[format] run tools/check_format.sh --fix" >&2; exit 1; }
  echo "[format] ${#files[@]} files are well formatted"
fi
