/* Preloaded into opid to break its store at will. FAULT_CONTROL names a one-byte file that the test rewrites:
 * 'o' works, 'e' every write and sync below FAULT_DIR fails with EIO, 'f' with ENOSPC, 'h' hangs until it changes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const volatile char *control;
static const char *folder;

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("FAULT_CONTROL");
    folder = getenv("FAULT_DIR");
    if (!name || !folder) return;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    void *p = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (p != MAP_FAILED) control = p;
}

static int fault(int fd) {
    if (!control || *control == 'o') return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    if (strncmp(path, folder, strlen(folder)) != 0) return 0;
    while (*control == 'h') {
        struct timespec t = {0, 5000000};
        nanosleep(&t, NULL);
    }
    if (*control == 'e') return EIO;
    if (*control == 'f') return ENOSPC;
    return 0;
}

#define NEXT(type, name, params) \
    static type(*next) params;   \
    if (!next) next = (type(*) params)dlsym(RTLD_NEXT, name)
#define BREAK(fd)              \
    do {                       \
        int e_ = fault(fd);    \
        if (e_) {              \
            errno = e_;        \
            return -1;         \
        }                      \
    } while (0)

ssize_t write(int fd, const void *b, size_t n) {
    NEXT(ssize_t, "write", (int, const void *, size_t));
    BREAK(fd);
    return next(fd, b, n);
}
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) {
    NEXT(ssize_t, "pwrite", (int, const void *, size_t, off_t));
    BREAK(fd);
    return next(fd, b, n, o);
}
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
    NEXT(ssize_t, "pwrite64", (int, const void *, size_t, off64_t));
    BREAK(fd);
    return next(fd, b, n, o);
}
ssize_t writev(int fd, const struct iovec *v, int n) {
    NEXT(ssize_t, "writev", (int, const struct iovec *, int));
    BREAK(fd);
    return next(fd, v, n);
}
int fsync(int fd) {
    NEXT(int, "fsync", (int));
    BREAK(fd);
    return next(fd);
}
int fdatasync(int fd) {
    NEXT(int, "fdatasync", (int));
    BREAK(fd);
    return next(fd);
}
