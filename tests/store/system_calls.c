/* Stands between a process and the C library: counts the calls that change files under one folder, and lets the chosen one
   fail, fall short, or be the last thing the process does. SQLite's own calls pass through here like everybody's.
   And looks below the file system: a file's bytes that are handed back to it (by unlink, by a rename over the file, by
   shortening it) stay on the disk until something else is written there. With `faults_watch`, a copy of every such piece that
   is not all zeros is kept in another folder.
   cc -shared -fPIC -o libfaults.so system_calls.c -ldl ; used with LD_PRELOAD, armed through `faults_arm`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { COUNT, KILL, TEAR, FAIL_ONCE, FAIL_ON };

static char root[4096];
static long calls, chosen = -1;
static int kind, code;

void faults_arm(const char *folder, long at, int what, int error)
{
    strncpy(root, folder, sizeof root - 1);
    calls = 0;
    chosen = at;
    kind = what;
    code = error;
}

long faults_calls(void) { return calls; }

static char watched[4096], kept[4096];
static long pieces;

void faults_watch(const char *folder, const char *below)
{
    strncpy(watched, folder, sizeof watched - 1);
    strncpy(kept, below, sizeof kept - 1);
}

/* What the file system gets back: the bytes of this file from `from` on, unless another name still holds them. */
static void hand_back(const char *path, off_t from)
{
    struct stat facts;
    if (!watched[0] || !path || strncmp(path, watched, strlen(watched)) || stat(path, &facts) || facts.st_nlink > 1)
        return;
    FILE *file = S_ISREG(facts.st_mode) && facts.st_size > from ? fopen(path, "rb") : NULL;
    if (!file)
        return;
    size_t size = facts.st_size - from, used = 0, read;
    char *bytes = calloc(1, size), name[8192];
    fseeko(file, from, SEEK_SET);
    read = fread(bytes, 1, size, file);
    fclose(file);
    for (size_t at = 0; at < read; at++)
        used += bytes[at] != 0;
    const char *base = strrchr(path, '/');
    snprintf(name, sizeof name, "%s/%d-%ld-%s", kept, (int)getpid(), pieces++, base ? base + 1 : path);
    FILE *copy = used ? fopen(name, "wb") : NULL;
    if (copy) {
        fwrite(bytes, 1, read, copy);
        fclose(copy);
    }
    free(bytes);
}

static void shorten(int descriptor, off_t size)
{
    char link[64], path[4096];
    if (!watched[0])
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        hand_back(path, size);
    }
}

static int inside(const char *path) { return root[0] && path && !strncmp(path, root, strlen(root)); }

static int of_store(int descriptor)
{
    char link[64], path[4096];
    if (!root[0])
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return inside(path);
}

/* Whether this call is to fail. `tear` is set where half of a write is to happen before the process dies. */
static int struck(int *tear)
{
    long now = calls++;
    if (tear)
        *tear = 0;
    if (chosen < 0 || kind == COUNT || now < chosen || (now > chosen && kind != FAIL_ON))
        return 0;
    if (kind == TEAR && tear) {
        *tear = 1;
        return 0;
    }
    if (kind == KILL || kind == TEAR)
        raise(SIGKILL);
    errno = code;
    return 1;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define WRITER(name, parameters, half, whole, ...) \
    ssize_t name parameters \
    { \
        REAL(ssize_t, #name, __VA_ARGS__); \
        int tear = 0; \
        if (of_store(descriptor)) { \
            if (struck(&tear)) \
                return -1; \
            if (tear) { \
                half; \
                raise(SIGKILL); \
            } \
        } \
        return whole; \
    }

WRITER(write, (int descriptor, const void *data, size_t size), real(descriptor, data, size / 2), real(descriptor, data, size), int,
       const void *, size_t)
WRITER(pwrite, (int descriptor, const void *data, size_t size, off_t at), real(descriptor, data, size / 2, at),
       real(descriptor, data, size, at), int, const void *, size_t, off_t)
WRITER(pwrite64, (int descriptor, const void *data, size_t size, off64_t at), real(descriptor, data, size / 2, at),
       real(descriptor, data, size, at), int, const void *, size_t, off64_t)

#define ON_DESCRIPTOR(name, parameters, before, call, ...) \
    int name parameters \
    { \
        REAL(int, #name, __VA_ARGS__); \
        if (of_store(descriptor) && struck(NULL)) \
            return -1; \
        before; \
        return call; \
    }

ON_DESCRIPTOR(fsync, (int descriptor), , real(descriptor), int)
ON_DESCRIPTOR(fdatasync, (int descriptor), , real(descriptor), int)
ON_DESCRIPTOR(ftruncate, (int descriptor, off_t size), shorten(descriptor, size), real(descriptor, size), int, off_t)
ON_DESCRIPTOR(ftruncate64, (int descriptor, off64_t size), shorten(descriptor, size), real(descriptor, size), int, off64_t)

#define ON_PATH(name, parameters, before, call, ...) \
    int name parameters \
    { \
        REAL(int, #name, __VA_ARGS__); \
        if (inside(path) && struck(NULL)) \
            return -1; \
        before; \
        return call; \
    }

ON_PATH(unlink, (const char *path), hand_back(path, 0), real(path), const char *)
ON_PATH(rename, (const char *path, const char *target), hand_back(target, 0), real(path, target), const char *, const char *)
ON_PATH(link, (const char *path, const char *target), , real(path, target), const char *, const char *)

#define OPENER(name) \
    int name(const char *path, int flags, ...) \
    { \
        REAL(int, #name, const char *, int, mode_t); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if ((flags & (O_CREAT | O_WRONLY | O_RDWR)) && inside(path) && struck(NULL)) \
            return -1; \
        if (flags & O_TRUNC) \
            hand_back(path, 0); \
        return real(path, flags, mode); \
    }

OPENER(open)
OPENER(open64)
