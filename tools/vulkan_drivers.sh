#!/usr/bin/env bash
# Vulkan drivers that need no GPU: finds those on this machine and prints the line that makes the
# Vulkan loader, and so Concord, see all of them at once.
#
#   eval "$(tools/vulkan_drivers.sh)"
#   eval "$(tools/vulkan_drivers.sh --fetch)"   also fetch Mesa 25's lavapipe from Debian's backports
#                                               into .deps/lavapipe (30 MB; nothing is installed)
#
# lavapipe: Debian's mesa-vulkan-drivers. SwiftShader: Debian's chromium (or chromium-common).
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
newer=$root/.deps/lavapipe

case ${1:-} in
  "" | --fetch) ;;
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "vulkan_drivers: unknown option $1 (see tools/vulkan_drivers.sh --help)" >&2; exit 2 ;;
esac

# Backports' packages, unpacked beside: the system's own stay as they are.
fetch() {
  local work
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  chmod -R a+rwX "$work"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
bookworm-backports main" >"$work/sources.list"
  local apt=(apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=-
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache")
  "${apt[@]}" update >&2
  (cd "$work" && "${apt[@]}" download mesa-vulkan-drivers libdrm2 libdrm-amdgpu1 >&2)
  rm -rf "$newer"
  mkdir -p "$newer"
  local package
  for package in "$work"/*.deb; do dpkg-deb --extract "$package" "$newer"; done
}

library() { find "$newer" -name libvulkan_lvp.so 2>/dev/null | head -n 1; }
[ "${1:-}" != --fetch ] || [ -n "$(library)" ] || fetch

# The driver is named from where its manifest lies, so that the folder can be moved.
if [ -n "$(library)" ]; then
  printf '{"ICD": {"api_version": "1.4.0", "library_path": "./%s"}, "file_format_version": "1.0.0"}\n' \
    "$(realpath --relative-to="$newer" "$(library)")" >"$newer/icd.json"
fi

manifests=()
for manifest in /usr/share/vulkan/icd.d/lvp_icd.*.json "$newer/icd.json" \
  /usr/lib/chromium/vk_swiftshader_icd.json; do
  [ -f "$manifest" ] && manifests+=("$manifest")
done
if [ ${#manifests[@]} -eq 0 ]; then
  echo "vulkan_drivers: none found; install mesa-vulkan-drivers or chromium" >&2
  exit 1
fi
(
  IFS=:
  echo "export VK_ICD_FILENAMES='${manifests[*]}'"
)
if [ -f "$newer/icd.json" ]; then
  folder=$(dirname "$(find "$newer" -name 'libdrm.so.2' | head -n 1)")
  echo "export LD_LIBRARY_PATH='$folder'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
fi
