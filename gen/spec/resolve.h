/* From files and settings to a whole Spec, for the files of this folder. */
#pragma once
#include "spec/key_info.h"

/* One KEY=VALUE from outside the files. */
typedef struct {
    Key key;
    const Toml *value; /* NULL: an error was noted */
    OriginKind origin; /* ORIGIN_SET or ORIGIN_SWEEP */
    const char *text;  /* "adapter.r=8" */
} Setting;

/* The files that are being read, outermost last: a file that waits for itself is a cycle. */
typedef struct ReadChain ReadChain;
struct ReadChain {
    const ReadChain *outer;
    const char *path;
};

/* Refuses a path that is in the chain already. */
void chain_check(const ReadChain *chain, const char *path, Pos blame);

/* Parses the --set of a command line; notes what is wrong with them. */
Setting *settings_parse(Arena *arena, const char *const *sets, int nsets);

/* The [sweep] of a spec, or of the next one that it extends; NULL where there is none, or where an
 * empty one undoes it. */
const Toml *find_sweep(Arena *arena, const char *path, Pos blame, const ReadChain *outer);

/* Everything but the complaint about keys without effect, which spec->in_vain records. Leaves where
 * errors were noted, by itself or before. */
Spec *spec_resolve(Arena *arena, const char *path, Pos blame, const Setting *settings, int count,
                   const ReadChain *outer);
/* The complaint. */
void refuse_in_vain(Arena *arena, const Spec *spec);
/* spec_read for a spec that another one names as its base. */
Spec *spec_read_base(Arena *arena, const char *path, Pos blame, const ReadChain *outer);

/* Whether the key is one of [model] that says what the model is, not where it comes from. */
bool is_model_shape(Key key);
/* Model keys from config.json (model.config, model.weights = DIR) and from the base spec
 * (model.weights = FILE.toml); a key that says otherwise is a user_error. Sets init_dir, base_spec.
 */
void resolve_weights(Arena *arena, Spec *spec, const ReadChain *chain);
/* Fills a scratch spec with the model keys of FOLDER/config.json; blame is who named the folder. */
void config_json_read(Arena *arena, Spec *config, const char *folder, Pos blame);

/* Derived defaults, missing keys, and everything that concerns several keys. */
void spec_check(Arena *arena, Spec *spec);
/* Notes all that does not go together, and leaves where there is some. */
void check_exclusions(const Spec *spec);
/* What that is, for the reference of keys. */
void print_exclusions(StrBuf *out);
/* The part of spec_check that concerns image models. */
void check_images(Arena *arena, Spec *spec);
/* The part of that which counts the images of data.device_resident. */
void check_resident(Arena *arena, Spec *spec);
/* Images in a folder that has a sub-folder a class: 0 where it is none, more than `most` where there
 * are more. */
int64_t image_folder_count(const char *root, int64_t most);
/* The part of spec_check that concerns how a model is shared out over cards. */
void check_tensor(Arena *arena, const Spec *spec);
void check_modules_to_save(const Spec *spec);
/* The hash of every resolved value that has an effect. */
void spec_hash(Spec *spec);
