/* A multi-layer perceptron over flattened images: linears named layers.0, layers.1, … with a ReLU
 * between them. */
#include "model/image.h"

Value *mlp_forward(Builder *b) {
    const Spec *spec = b->spec;
    Pos pos = spec_pos(spec, KEY_model_hidden_size);
    int64_t last = spec->model.num_hidden_layers;
    Images images = image_pixels(b);
    Value *x = image_flatten(b, images, "flatten", pos);
    Linear layer = {spec->model.hidden_size, .places = image_places(images)};
    for (int64_t i = 0; i <= last; i++) {
        const char *name = arena_printf(b->program->arena, "layers.%lld", (long long)i);
        layer.features = i < last ? spec->model.hidden_size : spec->model.num_classes;
        x = image_linear(b, x, name, layer, pos);
        if (i < last)
            x = image_relu(b, x, arena_printf(b->program->arena, "%s.relu", name), pos);
        layer.places = 1;
    }
    return x;
}
