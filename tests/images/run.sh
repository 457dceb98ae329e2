#!/bin/bash
# Whole programs on files of images, on the simulated device: folders of JPEG and PNG files, and IDX
# files. Results do not depend on where images are decoded and how they are fed; bad files give
# errors. Prints `ok images NAME` or `FAIL images NAME`; exits with 1 if any failed.
#
#     tests/images/run.sh [NAME]...       all tests without a NAME
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$PWD/build/images
gen=$(realpath "${GPUOPT_GEN:-./gpuopt-gen}")
. tests/env.sh
. tests/lib.sh
suite=images
rm -rf "$work"
mkdir -p "$work"

# ---- building ------------------------------------------------------------------------------------

# Data paths are relative to the folder where a program runs, so a program can run on many folders.
cat >"$work/spec.toml" <<'SPEC'
[model]
family = "cnn"
num_classes = 3
image_size = 12
image_channels = 3
layers = ["conv 6 3", "relu", "max_pool 2", "flatten"]
[training]
task = "classify"
per_device_train_batch_size = 8
steps = 16
seed = 3
[precision]
dtype = "fp64"
[optimizer]
name = "sgd"
lr = 0.05
[data]
format = "image_folder"
train = ["train"]
validation = ["test"]
image_height = 16
image_width = 17
image_mean = 0.5
image_std = 0.25
random_resized_crop = true
crop_scale = [0.3, 1.0]
random_horizontal_flip = 0.5
eval_resize_size = 14
num_workers = 2
SPEC

# program NAME [KEY=VALUE]...: generated in the folder with the good pictures, which some tests
# count.
program() {
    local dir=$work/$1 sets=()
    shift
    for setting in "$@"; do sets+=(--set "$setting"); done
    (cd "$work/good" && "$gen" "$work/spec.toml" "${sets[@]}" -o "$dir") >"$dir.log" 2>&1 &&
        make -s -C "$dir" >>"$dir.log" 2>&1 || { cat "$dir.log"; exit 1; }
}

# ---- running -------------------------------------------------------------------------------------

# run PROGRAM FOLDER OUT [OPTION]...: runs on a folder's data; output in OUT.log; returns its exit
# code.
run() {
    local program=$work/$1/run folder=$work/$2 out=$work/$3
    shift 3
    (cd "$folder" && "$program" --out "$out" "$@" >"$out.log" 2>&1)
}

# refused PROGRAM FOLDER WORDS: exits with 1 and one line that begins with `error:` and has the
# words.
refused() {
    run "$1" "$2" refused
    local code=$?
    [ $code -eq 1 ] && [ "$(grep -c '^error: ' "$work/refused.log")" -eq 1 ] &&
        grep '^error: ' "$work/refused.log" | grep -qF -- "$3" && return
    echo "exit code $code, no \"$3\" in:" && cat "$work/refused.log"
    return 1
}

# near A B: two CSV files have the same numbers, except for rounding.
near() {
    paste -d, "$work/$1" "$work/$2" | awk -F, '
        NR == 1 { next }
        { for (i = 1; i <= NF / 2; i++) {
              d = $i - $(i + NF / 2); if (d < 0) d = -d
              if (d > 1e-9 * (1 + $i * $i)) { print FILENAME ": " $0; bad = 1 }
          }
          rows++ }
        END { exit bad || rows == 0 }'
}

figure() { sed -n "s/.*\"$2\": \\([0-9.e-]*\\).*/\\1/p" "$work/$1/report.json" | head -n 1; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

# with NAME: copies the good pictures, for a test that damages them.
with() { rm -rf "${work:?}/$1" && cp -r "$work/good" "$work/$1"; }

# ---- a folder of pictures ------------------------------------------------------------------------

test_trains_and_evaluates() {
    local before after
    before=$(sed -n 2p "$work/device_out/eval.csv" | cut -d, -f2)
    after=$(tail -n 1 "$work/device_out/eval.csv" | cut -d, -f2)
    less "$after" "$(awk -v b="$before" 'BEGIN { print b / 2 }')" &&
        [ "$(tail -n 1 "$work/device_out/eval.csv" | cut -d, -f3)" = 1 ] &&
        [ "$(figure device_out train_samples)" = 36 ] && [ "$(figure device_out eval_samples)" = 12 ]
}

test_host_and_device_decode_agree() {
    run host good host_out && near device_out/loss.csv host_out/loss.csv &&
        near device_out/eval.csv host_out/eval.csv
}

test_kept_on_the_device() {
    run resident good resident_out && cmp "$work/device_out/loss.csv" "$work/resident_out/loss.csv" &&
        cmp "$work/device_out/eval.csv" "$work/resident_out/eval.csv"
}

# Most of the pictures do not fit in the slots of the program `device`, and none of the others' are too
# large. Without slots the host makes all pixels.
test_the_device_makes_the_hosts_pixels() {
    local name
    program all_fit data.jpeg_pixels=4096
    program no_slots data.jpeg_pixels=0
    grep -q picture_planes "$work/all_fit/kernels.cu" && ! grep -q picture_ "$work/no_slots/kernels.cu" || return
    run device good device_again && grep -q "class_.*jpg: its .* pixels take .* the host decodes it, and others like it" \
        "$work/device_again.log" || return
    for name in all_fit no_slots; do
        run $name good ${name}_out --dump "$work/$name.dump" && ! grep -q 'the host decodes it' "$work/${name}_out.log" &&
            cmp "$work/device_out/loss.csv" "$work/${name}_out/loss.csv" &&
            cmp "$work/device_out/eval.csv" "$work/${name}_out/eval.csv" || return
    done
    cmp "$work/all_fit.dump" "$work/no_slots.dump" && grep -q '"pixels"' "$work/all_fit.dump" &&
        [ "$(figure all_fit_out bytes)" -gt $((15 * 8 * 3 * 4096)) ] &&
        [ "$(figure no_slots_out bytes)" -lt $((16 * 8 * 1024)) ]
}

# No slot is large enough for pictures that are shrunk too much, nor may the key be as large as some files'
# headers say.
test_no_vain_advice_about_slots() {
    program shrunk data.jpeg_pixels=1 data.image_height=1 data.image_width=1 && "$work/draw_folder" "$work/large" 3 4 33 64 &&
        mkdir -p "$work/shrunk_data" && mv "$work/large" "$work/shrunk_data/train" &&
        cp -r "$work/shrunk_data/train" "$work/shrunk_data/test" && run shrunk shrunk_data shrunk_out &&
        ! grep -q 'the host decodes it' "$work/shrunk_out.log" || return
    program wide data.image_height=300 data.image_width=300 training.per_device_train_batch_size=1 && with giant &&
        find "$work/giant/train/class_0" -name '*.jpg' -exec perl -0777 -pi -e \
            's/(\xff[\xc0\xc2]\x00[\x0b\x11]\x08)..../$1\x23\x28\x23\x28/s' {} + &&
        refused wide giant "class_0/" && grep -q 'its 9000 x 9000 pixels take .* and others like it$' "$work/refused.log"
}

# In one channel only brightness is sent. In planes, and with other orders of the kernels' threads.
test_gray_and_in_planes() {
    local slots
    for slots in 0 4096; do
        program gray_$slots data.jpeg_pixels=$slots data.image_channels=1 precision.dtype=fp32
        program planes_$slots data.jpeg_pixels=$slots compile.layout=nchw precision.dtype=bf16
        run gray_$slots good gray_$slots.out && run planes_$slots good planes_$slots.out || return
    done
    cmp "$work/gray_0.out/loss.csv" "$work/gray_4096.out/loss.csv" &&
        cmp "$work/planes_0.out/loss.csv" "$work/planes_4096.out/loss.csv" &&
        SIM_ORDER=random:3 run planes_4096 good planes_order && cmp "$work/planes_0.out/loss.csv" "$work/planes_order/loss.csv"
}

test_crops_of_whole_pictures_by_the_device() {
    program cut data.jpeg_pixels=4096 data.crop_from=picture
    ! grep -q '"boxes"' "$work/cut/program.c" "$work/cut/values.c" && grep -q picture_fit_12x12x3 "$work/cut/kernels.cu" &&
        grep -q picture_fit_16x17x3 "$work/cut/kernels.cu" || return
    run pictures good pictures_out && run cut good cut_out && near pictures_out/loss.csv cut_out/loss.csv &&
        near pictures_out/eval.csv cut_out/eval.csv && ! cmp -s "$work/cut_out/loss.csv" "$work/device_out/loss.csv"
}

# Two cards of one process, each with its own slots.
test_slots_of_two_cards() {
    local slots
    for slots in 0 4096; do
        program cards_$slots data.jpeg_pixels=$slots parallelism.data_parallel_replicate_degree=2 \
            parallelism.data_parallel_mode=dp training.per_device_train_batch_size=4
        run cards_$slots good cards_$slots.out || return
    done
    cmp "$work/cards_0.out/loss.csv" "$work/cards_4096.out/loss.csv" &&
        cmp "$work/cards_0.out/eval.csv" "$work/cards_4096.out/eval.csv"
}

# The plan's bytes are an upper bound. The race checker stops at the first conflict.
test_kernels_of_pictures_have_no_races() {
    program all_fit data.jpeg_pixels=4096 && mkdir -p "$work/race" && cp "$work/all_fit/run" "$work/race" &&
        $CC -std=c17 -D_GNU_SOURCE -O2 -o "$work/compare_counts" tests/emit/compare_counts.c -ljansson &&
        "$SIM_OUT/simcc" --flavour race -I "$RT" "$work/all_fit/kernels.cu" -o "$work/race/kernels.sim" &&
        SIM_COUNTS=$work/counts.json run race good race_out --steps 2 &&
        "$work/compare_counts" "$work/all_fit/plan.json" "$work/counts.json"
}

test_threads_change_nothing() {
    run alone good alone_out && cmp "$work/device_out/loss.csv" "$work/alone_out/loss.csv"
}

test_micro_batches_change_nothing() {
    run micro good micro_out && near device_out/loss.csv micro_out/loss.csv
}

test_stopped_and_resumed() {
    run device good stopped --steps 7 && run device good stopped --resume &&
        cmp "$work/device_out/loss.csv" "$work/stopped/loss.csv"
}

test_other_seed_differs() {
    run device good seeded --seed 4 && ! cmp -s "$work/device_out/loss.csv" "$work/seeded/loss.csv"
}

# The first batch of held-out images has some of each class, whose broken pictures it meets. It is the same in
# smaller batches and after a stop.
test_few_held_out_images_are_of_all_classes() {
    local class
    program few data.eval_batches=1
    for class in 0 1 2; do
        with no_class && find "$work/no_class/test/class_$class" -type f -exec truncate -s 10 {} + &&
            refused few no_class "test/class_$class/" || return
    done
    program few_micro data.eval_batches=2 training.per_device_train_batch_size=4 \
        training.gradient_accumulation_steps=2
    run few good few_out && [ "$(figure few_out heldout_targets)" = 8 ] && run few_micro good few_micro_out &&
        near few_out/eval.csv few_micro_out/eval.csv &&
        run few good few_stopped --steps 7 && run few good few_stopped --resume &&
        tail -n 1 "$work/few_out/eval.csv" >"$work/few_last" && tail -n 1 "$work/few_stopped/eval.csv" | cmp - "$work/few_last"
}

# With the ReLU before the pooling, as in the spec, its gradient is computed after the pooling's,
# and the bias's gradient adds in another order.
test_pool_first_changes_no_number() {
    program relu_first compile.pool_first=false && run relu_first good relu_first_out &&
        ! cmp -s "$work/device/program.c" "$work/relu_first/program.c" &&
        near device_out/loss.csv relu_first_out/loss.csv && near device_out/eval.csv relu_first_out/eval.csv
}

test_crops_matter() {
    run whole good whole_out && ! cmp -s "$work/device_out/loss.csv" "$work/whole_out/loss.csv"
}

# Held-out images are cropped in the same way, so their figures before training are the same.
test_parts_of_whole_pictures() {
    run host good stored_out && run pictures good pictures_out &&
        ! cmp -s "$work/stored_out/loss.csv" "$work/pictures_out/loss.csv" &&
        [ -n "$(figure pictures_out heldout_before)" ] &&
        [ "$(figure stored_out heldout_before)" = "$(figure pictures_out heldout_before)" ] &&
        run pictures good pictures_again && cmp "$work/pictures_out/loss.csv" "$work/pictures_again/loss.csv"
}

test_decoded_scaled() {
    run pictures good whole_parts && run scaled good scaled_out &&
        ! cmp -s "$work/whole_parts/loss.csv" "$work/scaled_out/loss.csv" &&
        run scaled good scaled_again && cmp "$work/scaled_out/loss.csv" "$work/scaled_again/loss.csv"
}

# ---- bad pictures --------------------------------------------------------------------------------

test_broken_picture() {
    with broken && truncate -s 200 "$work/broken/train/class_1/002.jpg" &&
        refused device broken "train/class_1/002.jpg: broken JPEG: " &&
        grep -q 'data.skip_broken = true leaves out such images$' "$work/refused.log" &&
        with broken && truncate -s 200 "$work/broken/test/class_0/001.png" &&
        refused host broken "test/class_0/001.png: broken PNG: "
}

test_broken_picture_left_out() {
    with skipped && truncate -s 200 "$work/skipped/train/class_1/002.jpg" &&
        : >"$work/skipped/train/class_2/003.png" &&
        echo none >"$work/skipped/test/class_0/none.png" &&
        run skipping skipped skipped_out &&
        [ "$(figure skipped_out train_samples)" = 34 ] && [ "$(figure skipped_out skipped)" = 3 ] &&
        grep -q '^images left out  *3 ' "$work/skipped_out/report.txt" &&
        grep -q '3 of 49 images could not be used and were left out' "$work/skipped_out.log" &&
        grep -q 'class_1/002.jpg: broken JPEG.*; left out' "$work/skipped_out.log"
}

test_nothing_left() {
    with none && find "$work/none/train" -type f -exec truncate -s 10 {} + &&
        refused skipping none "train: no image is left that can be used"
}

test_small_picture() {
    with tiny && cp "$work/small/class_0/001.png" "$work/tiny/train/class_0/001.png" &&
        run device tiny tiny_out && [ "$(figure tiny_out train_samples)" = 36 ] &&
        ! cmp -s "$work/device_out/loss.csv" "$work/tiny_out/loss.csv"
}

test_empty_class() {
    with empty && rm "$work"/empty/train/class_1/* &&
        refused device empty "train/class_1: this class has no image"
}

test_missing_class() {
    with missing && rm -r "$work/missing/test/class_1" &&
        refused device missing "test: has 2 class folders, but model.num_classes is 3"
}

test_missing_folder() {
    mkdir -p "$work/nothing" && refused device nothing "train: cannot read the folder"
}

# ---- IDX -----------------------------------------------------------------------------------------

word() { printf '%b' "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 >> 24)) $(($1 >> 16 & 255)) \
    $(($1 >> 8 & 255)) $(($1 & 255)))"; }
bytes() { awk -v n="$1" -v m="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%c", 65 + i % m }'; }

# idx FOLDER COUNT: writes images of 16 x 17 and their labels, 0 to 2.
idx() {
    mkdir -p "$work/$1"
    { word 2051; word "$2"; word 16; word 17; bytes $(($2 * 272)) 23; } >"$work/$1/images-idx3-ubyte"
    { word 2049; word "$2"; bytes "$2" 3 | tr ABC '\000\001\002'; } >"$work/$1/labels-idx1-ubyte"
}

test_idx_trains() { idx idx_good 30 && run idx idx_good idx_out && [ "$(figure idx_out train_samples)" = 28 ]; }

test_idx_truncated() {
    idx cut 30 && truncate -s -1 "$work/cut/images-idx3-ubyte" &&
        refused idx cut "images-idx3-ubyte: its header promises 30 images of 16 x 17 (8160 bytes after it), but 8159" &&
        idx cut 30 && truncate -s -1 "$work/cut/labels-idx1-ubyte" &&
        refused idx cut "labels-idx1-ubyte: its header promises 30 labels" &&
        idx cut 30 && truncate -s 3 "$work/cut/images-idx3-ubyte" &&
        refused idx cut "images-idx3-ubyte: has 3 bytes, fewer than its header" &&
        idx cut 30 && gzip "$work/cut/images-idx3-ubyte" &&
        mv "$work/cut/images-idx3-ubyte.gz" "$work/cut/images-idx3-ubyte" &&
        truncate -s -9 "$work/cut/images-idx3-ubyte" &&
        refused idx cut "images-idx3-ubyte: cannot be decompressed: "
}

test_idx_inconsistent() {
    idx odd 30 && { word 2049; word 29; bytes 29 1 | tr A '\001'; } >"$work/odd/labels-idx1-ubyte" &&
        refused idx odd "labels-idx1-ubyte: 29 labels, but images-idx3-ubyte has 30 images" &&
        idx odd 30 && cp "$work/odd/labels-idx1-ubyte" "$work/odd/images-idx3-ubyte" &&
        refused idx odd "images-idx3-ubyte: holds no IDX images: it begins with 2049, not with 2051" &&
        idx odd 30 && rm "$work/odd/labels-idx1-ubyte" &&
        refused idx odd "images-idx3-ubyte: its label file labels-idx1-ubyte is not there" &&
        idx odd 30 && sed -i 's/\x00\x00\x00\x11/\x00\x00\x00\x10/' "$work/odd/images-idx3-ubyte" &&
        truncate -s 7696 "$work/odd/images-idx3-ubyte" &&
        refused idx odd "images-idx3-ubyte: its images are 16 x 16, but the program was made for 16 x 17"
}

test_idx_label_out_of_range() {
    idx wild 30 && { word 2049; word 30; bytes 30 4 | tr ABCD '\000\001\002\003'; } \
        >"$work/wild/labels-idx1-ubyte" &&
        refused idx wild "labels-idx1-ubyte: label 3 (byte 11) is 3, but model.num_classes is 3"
}

# ---- all -----------------------------------------------------------------------------------------

$CC -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -I. -Itests/unit -o "$work/draw_folder" \
    tests/images/draw_folder.c tests/unit/draw_pictures.c "$RTLIB" -ljansson -lz -ldl -lm -lpthread ||
    exit 1
mkdir -p "$work/good"
"$work/draw_folder" "$work/good/train" 3 12 18 45 && "$work/draw_folder" "$work/good/test" 3 4 18 45 &&
    "$work/draw_folder" "$work/small" 1 2 15 15 || exit 1
program device
program host data.decode=host
program pictures data.decode=host data.crop_from=picture
program scaled data.decode=host data.crop_from=picture data.decode_scaled=true
program resident data.device_resident=true
program alone data.num_workers=0
program micro training.per_device_train_batch_size=4 training.gradient_accumulation_steps=2
program whole data.crop_scale=[1.0,1.0] data.crop_ratio=[1.0625,1.0625] \
    data.random_horizontal_flip=0.0
program skipping data.skip_broken=true
program idx data.format=idx 'data.train=["images-idx3-ubyte"]' 'data.validation=[]' \
    data.eval_fraction=0.07
run device good device_out || { cat "$work/device_out.log"; exit 1; }

run_tests "$@"
exit $failed
