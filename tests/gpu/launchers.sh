#!/bin/sh
# launchers.sh BUNDLE NAME=SCRIPT...: writes BUNDLE/NAME, which runs the bundle's Python script SCRIPT. The
# first call unpacks bundle.tar.xz; if it was interrupted, the next one does so again. A Python without lzma
# leaves that to tar.
set -eu
out=$1
shift
for entry in "$@"; do
    file=$out/${entry%%=*}
    cat >"$file" <<END
#!/bin/sh
set -e
here=\$(cd "\$(dirname "\$0")" && pwd) python=\${PYTHON:-python3}
if [ ! -e "\$here/unpacked" ]; then
    "\$python" -m tarfile -e "\$here/bundle.tar.xz" "\$here" || tar -C "\$here" -xJf "\$here/bundle.tar.xz"
    touch "\$here/unpacked"
fi
exec "\$python" "\$here/${entry#*=}" "\$@"
END
    chmod +x "$file"
done
