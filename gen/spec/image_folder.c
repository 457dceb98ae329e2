/* Counts the images of a folder with one sub-folder per class, by the rules of the runtime's
 * loader: everything below a class that has an image's extension counts, even if it is not a file
 * (then it is a broken image). Hidden entries are skipped. Links to folders are followed only for
 * classes. */
#include "spec/resolve.h"
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct {
    int64_t count, most; /* counting stops above most */
} Count;

static bool is_image_name(const char *name) {
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length >= strlen(endings[i]) &&
            !strcasecmp(name + length - strlen(endings[i]), endings[i]))
            return true;
    return false;
}

static bool is_kind(const char *path, mode_t kind, int (*look)(const char *, struct stat *)) {
    struct stat info;
    return !look(path, &info) && (info.st_mode & S_IFMT) == kind;
}

/* Calls `visit` with the path of each entry that is not hidden. */
static void each_entry(const char *folder, void (*visit)(const char *path, Count *), Count *count) {
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; count->count <= count->most && (entry = readdir(dir));) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof path)
            visit(path, count);
    }
    closedir(dir);
}

static void visit_entry(const char *path, Count *count) {
    count->count += is_image_name(path);
    if (is_kind(path, S_IFDIR, lstat))
        each_entry(path, visit_entry, count);
}

static void visit_class(const char *path, Count *count) {
    if (is_kind(path, S_IFDIR, stat))
        each_entry(path, visit_entry, count);
}

int64_t image_folder_count(const char *root, int64_t most) {
    Count count = {.most = most};
    each_entry(root, visit_class, &count);
    return count.count;
}
