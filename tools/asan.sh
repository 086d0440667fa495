#!/bin/sh
# asan.sh BIN PYTEST-ARGS... -- runs the engine's tests with the sanitized build in build/asan.
# The package is laid out beside it, so that nothing installed is used.
set -eu
python=$1/python; shift
site=build/asan/site
rm -rf "$site"; mkdir -p "$site/jedlik"
for file in python/jedlik/*.py; do ln -s "../../../../$file" "$site/jedlik/"; done
ln -s "../../$(basename build/asan/_engine.*.so)" "$site/jedlik/"

preload=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
[ $# -gt 0 ] || set -- tests/stage tests/guard tests/emit tests/robust tests/test_golden.py tests/test_containers.py
exec env PYTHONPATH="$PWD/$site" LD_PRELOAD="$preload" PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=0:handle_segv=1 UBSAN_OPTIONS=print_stacktrace=1 JEDLIK_SANITIZED=1 \
    "$python" -m pytest -p no:cacheprovider --basetemp=build/pytest-asan -q "$@"
