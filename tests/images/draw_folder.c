/* Writes a folder of small pictures for tests: one sub-folder per class, each with its own colour.
 *
 *     draw_folder FOLDER CLASSES PICTURES SMALLEST LARGEST
 *
 * JPEG and PNG alternate, some gray, some transparent, SMALLEST to LARGEST pixels per side. JPEG files
 * take turns in how they sample colours and order coefficients. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "draw_pictures.h"

enum { LARGEST = 64 };

static unsigned below(unsigned n) {
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* Draws noise around the class's colour or, in a gray picture, around its brightness. */
static Drawing draw(int class, int samples, int smallest, int largest) {
    static uint8_t pixels[LARGEST * LARGEST * 4];
    static const uint8_t colours[][3] = {{40, 60, 150}, {180, 80, 60}, {120, 200, 190}};
    unsigned sizes = (unsigned)(largest - smallest + 1);
    Drawing d = {pixels, smallest + (int)below(sizes), smallest + (int)below(sizes), samples};
    for (int i = 0; i < d.height * d.width; i++)
        for (int s = 0; s < samples; s++)
            pixels[i * samples + s] = (uint8_t)(colours[class % 3][s % 3] + below(50));
    return d;
}

static void write_bytes(const char *path, uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
        perror(path);
        exit(1);
    }
    free(bytes);
}

static JpegForm form_of(int number) {
    static const Sampling samplings[] = {TJ_420, TJ_444, TJ_422, TJ_440, TJ_411};
    return (JpegForm){.sampling = samplings[number / 2 % 5],
                      .quality = 95,
                      .progressive = number / 4 % 2,
                      .restart = number / 8 % 2 * 3};
}

static void write_picture(const char *folder, int class, int number, int smallest, int largest) {
    static const int samples_of[] = {3, 3, 3, 4, 1, 3}; /* JPEG and PNG alternate */
    char path[512];
    size_t size;
    int kind = number % 6, jpeg = kind % 2 == 0;
    Drawing d = draw(class, samples_of[kind], smallest, largest);
    uint8_t *bytes = jpeg ? jpeg_as(d, form_of(number), &size) : png_of(d, &size);
    snprintf(path, sizeof path, "%s/class_%d/%03d.%s", folder, class, number, jpeg ? "jpg" : "png");
    write_bytes(path, bytes, size);
}

int main(int argc, char **argv) {
    if (argc != 6 || atoi(argv[5]) > LARGEST)
        return 2;
    mkdir(argv[1], 0777);
    for (int class = 0; class < atoi(argv[2]); class++) {
        char path[512];
        snprintf(path, sizeof path, "%s/class_%d", argv[1], class);
        mkdir(path, 0777);
        for (int i = 0; i < atoi(argv[3]); i++)
            write_picture(argv[1], class, i, atoi(argv[4]), atoi(argv[5]));
    }
    return 0;
}
