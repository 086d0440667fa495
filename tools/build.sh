#!/bin/sh
# build.sh BIN FOLDER MESON-OPTIONS... -- configures FOLDER when it is new or its list of sources is old; builds.
set -eu
bin=$1; folder=$2; shift 2
PATH=$(cd "$bin" && pwd):$PATH
export PATH

mkdir -p build
list=$folder/sources.txt
now=$(python tools/sources.py c; python tools/sources.py python; echo "$bin $*")
if [ ! -f "$folder/build.ninja" ]; then
    rm -rf "$folder"
    meson setup "$folder" "$@"
elif [ "$now" != "$(cat "$list" 2>/dev/null)" ]; then
    meson setup --reconfigure "$folder" "$@"
fi
printf '%s\n' "$now" >"$list"
exec ninja -C "$folder" --quiet
