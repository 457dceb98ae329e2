/* Makes a complete Spec of files and settings. For the files of this folder. */
#pragma once
#include "spec/key_info.h"

/* A KEY=VALUE from outside the files. */
typedef struct {
    Key key;
    const Toml *value; /* NULL: an error was noted */
    OriginKind origin; /* ORIGIN_SET or ORIGIN_SWEEP */
    const char *text;  /* "adapter.r=8" */
} Setting;

/* The files being read, outermost last. A file that is already in the chain depends on itself. */
typedef struct ReadChain ReadChain;
struct ReadChain {
    const ReadChain *outer;
    const char *path;
};

/* Parses the --set of a command line; notes their errors. */
Setting *settings_parse(Arena *arena, const char *const *sets, int nsets);

/* Returns the [sweep] of a spec, or of the nearest one that it extends; NULL if there is none, or
 * if an empty one removes it. */
const Toml *find_sweep(Arena *arena, const char *path, Pos blame, const ReadChain *outer);

/* Reads and checks a spec. Keys without effect are no error yet: spec->in_vain records them. Exits
 * if errors were noted, here or earlier. */
Spec *spec_resolve(Arena *arena, const char *path, Pos blame, const Setting *settings, int count,
                   const ReadChain *outer);
/* Reports the keys in spec->in_vain as errors and exits if there are any. */
void refuse_in_vain(Arena *arena, const Spec *spec);
/* Whether the key counts steps, and training ends before it has its whole effect. */
bool spec_is_late(const Spec *, Key);
/* Warns of keys for which this is so at all points of a study, or in the one spec. */
void warn_of_late(Arena *arena, const Spec *const *points, int count);
/* spec_read for a spec that another spec names as its base. */
Spec *spec_read_base(Arena *arena, const char *path, Pos blame, const ReadChain *outer);

/* Whether the key is in [model] and says what the model is, not where it comes from. */
bool is_model_shape(Key key);
/* Takes model keys from config.json (model.config, model.weights = DIR) and from the base spec
 * (model.weights = FILE.toml); a key that contradicts them is a user_error. Sets init_dir and
 * base_spec. */
void resolve_weights(Arena *arena, Spec *spec, const ReadChain *chain);
/* Fills a scratch spec with the model keys of FOLDER/config.json; blame is where the folder is
 * named. */
void config_json_read(Arena *arena, Spec *config, const char *folder, Pos blame);

/* Derives defaults, reports missing keys, and checks everything that involves several keys. */
void spec_check(Arena *arena, Spec *spec);
/* Notes all unsupported combinations, and exits if there are any. */
void check_exclusions(const Spec *spec);
/* Prints these combinations, for the reference of keys. */
void print_exclusions(StrBuf *out);
/* The part of spec_check for image models. */
void check_images(Arena *arena, Spec *spec);
/* The part of check_images for data.device_resident, which counts the images. */
void check_resident(Arena *arena, Spec *spec);
/* Returns the number of images in a folder with one sub-folder per class: 0 if there is no such
 * folder, some number above `most` if there are more. */
int64_t image_folder_count(const char *root, int64_t most);
/* The part of spec_check for tensor parallelism. */
void check_tensor(Arena *arena, const Spec *spec);
void check_modules_to_save(const Spec *spec);
/* Sets spec->sha256 and spec->recipe_sha256. */
void spec_hash(Spec *spec);
