/* Reads the layers of a cnn. A layer is a name followed by numbers; `forms` says how many. */
#include "spec/cnn_layers.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "spec/key_info.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 4 };

static const struct {
    const char *name;
    CnnLayerKind kind;
    int least, most; /* numbers after the name */
    const char *usage;
} forms[] = {
    {"conv", CNN_CONV, 2, 4, "\"conv CHANNELS KERNEL [STRIDE [PADDING]]\", such as \"conv 32 3\""},
    {"relu", CNN_RELU, 0, 0, "\"relu\""},
    {"max_pool", CNN_MAX_POOL, 1, 2, "\"max_pool KERNEL [STRIDE]\", such as \"max_pool 2\""},
    {"dropout", CNN_DROPOUT, 1, 1, "\"dropout RATE\", such as \"dropout 0.25\""},
    {"flatten", CNN_FLATTEN, 0, 0, "\"flatten\""},
    {"linear", CNN_LINEAR, 1, 1, "\"linear FEATURES\", such as \"linear 128\""},
};

/* The layer being read. */
typedef struct {
    Arena *arena;
    const char *text;
    Pos pos;
    int form;
    const char *words[MOST_WORDS + 1]; /* after the name */
    int count;
} Text;

static _Noreturn void refuse_with(const Text *t, const char *remedy, const char *fault) {
    user_error(t->pos, remedy, "layer \"%s\": %s", t->text, fault);
}

static _Noreturn void refuse(const Text *t, const char *fault) {
    refuse_with(t, arena_printf(t->arena, "write %s", forms[t->form].usage), fault);
}

static _Noreturn void refuse_name(const Text *t, const char *name) {
    enum { COUNT = sizeof forms / sizeof *forms };
    const char *names[COUNT], *hint = key_hint(t->arena, KEY_model_layers);
    for (int i = 0; i < COUNT; i++)
        names[i] = forms[i].name;
    const char *nearest = nearest_name(name, names, COUNT);
    if (nearest)
        hint = arena_printf(t->arena, "did you mean \"%s\"? %s", nearest, hint);
    user_error(t->pos, hint, "unknown layer \"%s\"", t->text);
}

static void split(Text *t) {
    char *rest = arena_strdup(t->arena, t->text), *word = strtok_r(rest, " ", &rest);
    const char *name = word ? word : "";
    int count = (int)(sizeof forms / sizeof *forms);
    while (t->form < count && strcmp(forms[t->form].name, name))
        t->form++;
    if (t->form == count)
        refuse_name(t, name);
    while (t->count <= MOST_WORDS && (word = strtok_r(NULL, " ", &rest)))
        t->words[t->count++] = word;
    if (t->count < forms[t->form].least || t->count > forms[t->form].most)
        refuse(t, t->count < forms[t->form].least ? "too few numbers" : "too many numbers");
}

/* Returns word i, which is the layer's `what`, as an integer in [least, most], or `otherwise` if there
 * is no such word. */
static int64_t integer(const Text *t, int i, const char *what, int64_t least, int64_t most,
                       int64_t otherwise) {
    if (i >= t->count)
        return otherwise;
    char *end;
    long long value = strtoll(t->words[i], &end, 10);
    if (*end || !isdigit((unsigned char)t->words[i][0]))
        refuse(t, arena_printf(t->arena, "\"%s\" is not an integer", t->words[i]));
    if (value < least || value > most)
        refuse(t, arena_printf(t->arena, "its %s, %s, is not in [%lld, %lld]", what, t->words[i],
                               (long long)least, (long long)most));
    return value;
}

static double share(const Text *t) {
    char *end;
    double value = strtod(t->words[0], &end);
    if (*end || !(value >= 0 && value < 1))
        refuse(t, arena_printf(t->arena, "\"%s\" is not a number in [0, 1)", t->words[0]));
    return value;
}

static void read_numbers(const Text *t, CnnLayer *layer) {
    enum { WIDEST = 1048576, LARGEST = 64 };
    switch (layer->kind) {
    case CNN_CONV:
        layer->features = integer(t, 0, "number of channels", 1, WIDEST, 0);
        layer->kernel = integer(t, 1, "kernel", 1, LARGEST, 0);
        layer->stride = integer(t, 2, "stride", 1, LARGEST, 1);
        layer->padding = integer(t, 3, "padding", 0, layer->kernel - 1, 0);
        break;
    case CNN_MAX_POOL:
        layer->kernel = integer(t, 0, "kernel", 1, WIDEST_WINDOW, 0);
        layer->stride = integer(t, 1, "stride", 1, LARGEST, layer->kernel);
        break;
    case CNN_DROPOUT:
        layer->rate = share(t);
        break;
    case CNN_LINEAR:
        layer->features = integer(t, 0, "number of features", 1, WIDEST, 0);
        break;
    case CNN_RELU:
    case CNN_FLATTEN:
        break;
    }
}

/* Returns the shape of a layer's output, as the input shape of the next layer. */
static CnnLayer behind(const Text *t, const CnnLayer *layer) {
    CnnLayer next = {.height = layer->height, .width = layer->width, .channels = layer->channels};
    bool windows = layer->kind == CNN_CONV || layer->kind == CNN_MAX_POOL;
    bool flat = layer->height == 0;
    if (windows && flat)
        refuse_with(t, "move it before \"flatten\"", "it needs an image, but its input is flat");
    if (layer->kind == CNN_LINEAR && !flat)
        refuse_with(t, "put \"flatten\" before it", "its input is not flat");
    if (layer->kind == CNN_FLATTEN && flat)
        refuse_with(t, "remove it", "its input is already flat");
    if (windows) {
        int64_t room = layer->height + 2 * layer->padding - layer->kernel;
        if (room < 0)
            refuse_with(t, "use a smaller kernel, or smaller strides before it",
                        arena_printf(t->arena, "its kernel is larger than its input of %lldx%lld",
                                     (long long)layer->height, (long long)layer->width));
        next.height = next.width = room / layer->stride + 1;
    }
    if (layer->kind == CNN_FLATTEN)
        next = (CnnLayer){.channels = layer->height * layer->width * layer->channels};
    if (layer->kind == CNN_CONV || layer->kind == CNN_LINEAR)
        next.channels = layer->features;
    return next;
}

static CnnLayer read_layer(Text *t, CnnLayer at, CnnLayer *next) {
    split(t);
    at.kind = forms[t->form].kind;
    at.pos = t->pos;
    read_numbers(t, &at);
    *next = behind(t, &at);
    return at;
}

CnnLayer *cnn_layers(Arena *arena, const Spec *spec, int *count) {
    const Strings *list = &spec->model.layers;
    CnnLayer *layers = arena_array(arena, (size_t)list->count + 1, sizeof *layers);
    CnnLayer at = {.height = spec->model.image_size,
                   .width = spec->model.image_size,
                   .channels = spec->model.image_channels};
    for (int i = 0; i < list->count; i++) {
        Text text = {.arena = arena, .text = list->items[i], .pos = list->at[i]};
        layers[i] = read_layer(&text, at, &at);
    }
    if (at.height)
        user_error(spec_pos(spec, KEY_model_layers),
                   "end with \"flatten\", or with \"flatten\" and linears",
                   "the classifier that follows model.layers needs flat input");
    at.kind = CNN_LINEAR;
    at.pos = spec_pos(spec, KEY_model_num_classes);
    at.features = spec->model.num_classes;
    layers[list->count] = at;
    *count = list->count + 1;
    return layers;
}
