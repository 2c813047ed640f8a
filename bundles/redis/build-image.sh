#!/bin/sh
# Makes an image of this bundle: build-image.sh [<name of the image>]. From nothing but what this machine has: busybox (the
# static one), redis-cli and its libraries. Needs buildah; push the result with buildah push.
set -eu
image=${1:-localhost/redis-bundle:latest}
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/bin" "$root/tmp" "$root/etc" "$root/run/bundle" "$root/opt/bundle"
busybox=$(command -v busybox)
cp "$busybox" "$root/bin/busybox"
for name in $("$busybox" --list); do
  [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
done
cp "$(command -v redis-cli)" "$root/bin/redis-cli"
# Lines such as "libssl.so.3 => /lib/x86_64-linux-gnu/libssl.so.3 (0x…)" and "/lib64/ld-linux-x86-64.so.2 (0x…)".
for library in $(ldd "$root/bin/redis-cli" | grep -o '/[^ ]*'); do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
cp "$here/bundle.yml" "$here/entrypoint.sh" "$root/opt/bundle/"
chmod -R a+rX "$root"

container=$(buildah from scratch)
trap 'rm -rf "$root"; buildah rm "$container" >/dev/null' EXIT
buildah copy -q "$container" "$root" / >/dev/null
buildah config \
  --env PATH=/bin \
  --entrypoint '["/opt/bundle/entrypoint.sh"]' \
  --label "com.redhat.apb.spec=$(base64 <"$here/bundle.yml" | tr -d '\n')" \
  --label com.redhat.bundle.runtime=2 \
  "$container"
buildah commit -q "$container" "$image"
