/* A multi-layer perceptron over flattened images: linears named layers.0, layers.1, … with a ReLU
 * between them. */
#include "model/image.h"

Value *mlp_forward(Builder *b) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_hidden_size);
    int64_t hidden = spec->model.num_hidden_layers;
    Value *x = image_flat_linear(b, image_pixels(b), "layers.0", spec->model.hidden_size, pos);
    for (int64_t i = 1; i <= hidden; i++) {
        const char *name = arena_printf(b->program->arena, "layers.%lld", (long long)i);
        x = image_relu(b, x, arena_printf(b->program->arena, "layers.%lld.relu", (long long)i - 1),
                       pos);
        x = image_linear(b, x, name, i < hidden ? spec->model.hidden_size : spec->model.num_classes,
                         pos);
    }
    return x;
}
