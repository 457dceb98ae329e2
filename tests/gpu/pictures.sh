#!/bin/sh
# pictures.sh BUNDLE LIBRARY WORK: draws JPEG files into BUNDLE/tests/pictures, and copies the library that
# reads them to BUNDLE/lib. LIBRARY is the runtime's.
set -eu
tool=$3/draw_folder
library=$(${CC:-cc} -print-file-name=libturbojpeg.so.0)
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -I. -Itests/unit -o "$tool" tests/images/draw_folder.c \
    tests/unit/draw_pictures.c "$2" -ljansson -lz -ldl -lm -lpthread
mkdir -p "$1/tests/pictures" "$1/lib"
"$tool" "$1/tests/pictures/train" 3 24 18 64
"$tool" "$1/tests/pictures/test" 3 8 18 64
find "$1/tests/pictures" -name '*.png' -delete # would need another library there
cp -L "$library" "$1/lib"
