/* Fails one chosen system call or allocation of a process, when preloaded.
 *
 * The script every.py compiles it and shares a page of memory with all processes under test: which
 * process is meant, which call of it is to fail, and in return how many calls there were and which
 * one failed. Calls are counted from the moment the page is armed; in a worker, from the first file
 * that it opens below the trial's folder.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PARENT, WORKER };
enum { IO, SPACE, ACCESS, MEMORY }; /* what goes wrong */

struct page {
    int armed, role, what, parent;
    long target, count, least;
    int fired, process;
    char call[32], path[400], root[400], program[4][400];
    unsigned long place, wanted;
};

static struct page *page;
static int started;          /* a worker has opened a file of the trial */
static __thread int inside;  /* the shim's own calls are not counted */

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("SVMBENCH_FAILING_PAGE");
    if (!name) return;
    int file = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *at = (void *)syscall(SYS_mmap, 0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (at != MAP_FAILED) page = at;
}

/* Whether a file is part of the program or of Python, of which only data and templates count. */
static int of_the_program(const char *path)
{
    if (strstr(path, "/datasets/") || strstr(path, "/templates/")) return 0;
    for (int i = 0; i < 4; i++) {
        size_t size = strlen(page->program[i]);
        if (size && !strncmp(path, page->program[i], size)) return 1;
    }
    return 0;
}

static int meant(const char *path)
{
    if (!page || !page->armed || page->fired || inside) return 0;
    if (path && of_the_program(path)) return 0;
    int self = syscall(SYS_getpid);
    if (page->role == PARENT) return self == page->parent;
    if (self == page->parent) return 0;
    if (!started && path && !strncmp(path, page->root, strlen(page->root))) started = 1;
    return started;
}

/* A number for the place in the program that makes a call: its Python stack, innermost frames
 * first, as faulthandler prints it. Calls of threads that run no Python have that of their name. */
#define FRAMES 10
static unsigned long place_of(const char *call)
{
    static void *(*state)(void);
    static const char *(*dump)(int, void *);
    static __thread char text[1 << 14];
    unsigned long hash = 1469598103934665603UL;
    int lines = 0;
    inside++;
    if (!dump) {
        *(void **)&state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        *(void **)&dump = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    }
    void *own = dump && state ? state() : NULL;
    long size = 0;
    int file = own ? syscall(SYS_memfd_create, "stack", MFD_CLOEXEC) : -1;
    if (file >= 0) {
        dump(file, own);
        size = syscall(SYS_pread64, file, text, sizeof text, 0);
        syscall(SYS_close, file);
    }
    for (; *call; call++) hash = (hash ^ (unsigned char)*call) * 1099511628211UL;
    for (long i = 0; i < size && lines <= FRAMES; i++) {
        lines += text[i] == '\n';
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211UL;
    }
    inside--;
    return hash;
}

/* With a negative number all calls are written to a file beside the trial's folder. */
static void list(const char *call, const char *path)
{
    char name[420], line[500];
    snprintf(name, sizeof name, "%s/../calls", page->root);
    int size = snprintf(line, sizeof line, "%s %s\t%lx\n", call, path ? path : "", place_of(call));
    int file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0666);
    syscall(SYS_write, file, line, size);
    syscall(SYS_close, file);
}

static int fires(const char *call, const char *path)
{
    if (page->target < 0) list(call, path);
    long number = __atomic_add_fetch(&page->count, 1, __ATOMIC_SEQ_CST);
    /* A place that is wanted fails at its first call from that number on. */
    if (page->wanted ? number < page->target || place_of(call) != page->wanted
                     : number != page->target) return 0;
    if (__atomic_exchange_n(&page->fired, 1, __ATOMIC_SEQ_CST)) return 0;
    page->place = page->wanted ? page->wanted : place_of(call);
    page->process = syscall(SYS_getpid);
    strncpy(page->call, call, sizeof page->call - 1);
    strncpy(page->path, path ? path : "", sizeof page->path - 1);
    return 1;
}

/* Whether this call fails; with no error number for what goes wrong it is not even counted. */
static int fails(const char *call, const char *path, int io, int space, int access)
{
    int kept = errno;
    if (!meant(path) || page->what == MEMORY) return 0;
    int number = page->what == IO ? io : page->what == SPACE ? space : access;
    if (!number || !fires(call, path)) { errno = kept; return 0; }
    errno = number;
    return 1;
}

static int fails_of(const char *call, int file, int io, int space, int access)
{
    char link[40], path[400];
    int kept = errno;
    if (!page || !page->armed || page->fired || page->what == MEMORY) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    long size = syscall(SYS_readlink, link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    errno = kept;
    if (page->what == SPACE && !strncmp(path, "pipe:", 5)) return 0; /* it has no disk to fill */
    return fails(call, path, io, space, access);
}

#define REAL(name) static __typeof__(name) *real; if (!real) { inside++; *(void **)&real = dlsym(RTLD_NEXT, #name); inside--; }

/* open */
#define OPENED (flags & (O_WRONLY | O_RDWR | O_CREAT))
#define MODE mode_t mode = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
#define OPEN(name) int name(const char *path, int flags, ...) { MODE REAL(name) \
    if (fails("open", path, EIO, flags & O_CREAT ? ENOSPC : EMFILE, OPENED ? EROFS : EACCES)) return -1; \
    return real(path, flags, mode); }
#define OPENAT(name) int name(int at, const char *path, int flags, ...) { MODE REAL(name) \
    if (fails("openat", path, EIO, flags & O_CREAT ? ENOSPC : EMFILE, OPENED ? EROFS : EACCES)) return -1; \
    return real(at, path, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)
FILE *fopen(const char *path, const char *mode)
{ REAL(fopen) return fails("fopen", path, EIO, EMFILE, EACCES) ? NULL : real(path, mode); }
FILE *fopen64(const char *path, const char *mode)
{ REAL(fopen64) return fails("fopen", path, EIO, EMFILE, EACCES) ? NULL : real(path, mode); }
FILE *fdopen(int file, const char *mode)
{ REAL(fdopen) return fails_of("fdopen", file, ENOMEM, 0, 0) ? NULL : real(file, mode); }
int close(int file)
{ REAL(close) int bad = fails_of("close", file, EIO, ENOSPC, 0); int kept = errno;
  int code = real(file); if (!bad) return code; errno = kept; return -1; }
int dup(int file) { REAL(dup) return fails_of("dup", file, EMFILE, 0, 0) ? -1 : real(file); }

/* read and write */
ssize_t read(int file, void *to, size_t size)
{ REAL(read) return fails_of("read", file, EIO, 0, 0) ? -1 : real(file, to, size); }
ssize_t pread64(int file, void *to, size_t size, off64_t at)
{ REAL(pread64) return fails_of("pread", file, EIO, 0, 0) ? -1 : real(file, to, size, at); }
size_t fread(void *to, size_t size, size_t n, FILE *file)
{ REAL(fread) return fails_of("fread", fileno(file), EIO, 0, 0) ? 0 : real(to, size, n, file); }
ssize_t write(int file, const void *from, size_t size)
{ REAL(write) return fails_of("write", file, EIO, ENOSPC, 0) ? -1 : real(file, from, size); }
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at)
{ REAL(pwrite64) return fails_of("pwrite", file, EIO, ENOSPC, 0) ? -1 : real(file, from, size, at); }
ssize_t writev(int file, const struct iovec *from, int n)
{ REAL(writev) return fails_of("writev", file, EIO, ENOSPC, 0) ? -1 : real(file, from, n); }
size_t fwrite(const void *from, size_t size, size_t n, FILE *file)
{ REAL(fwrite) return fails_of("fwrite", fileno(file), EIO, ENOSPC, 0) ? 0 : real(from, size, n, file); }
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags)
{ REAL(copy_file_range) return fails_of("copy_file_range", out, EIO, ENOSPC, 0) ? -1 : real(in, from, out, to, size, flags); }
ssize_t sendfile64(int out, int in, off64_t *from, size_t size)
{ REAL(sendfile64) return fails_of("sendfile", out, EIO, ENOSPC, 0) ? -1 : real(out, in, from, size); }
int fsync(int file) { REAL(fsync) return fails_of("fsync", file, EIO, ENOSPC, 0) ? -1 : real(file); }
int fdatasync(int file) { REAL(fdatasync) return fails_of("fdatasync", file, EIO, ENOSPC, 0) ? -1 : real(file); }
int ftruncate64(int file, off64_t size)
{ REAL(ftruncate64) return fails_of("ftruncate", file, EIO, ENOSPC, 0) ? -1 : real(file, size); }
int flock(int file, int how) { REAL(flock) return fails_of("flock", file, ENOLCK, EINTR, 0) ? -1 : real(file, how); }

/* names */
#define NAME1(name, io, space) int name(const char *path) \
    { REAL(name) return fails(#name, path, io, space, EROFS) ? -1 : real(path); }
#define NAME2(name) int name(const char *from, const char *to) \
    { REAL(name) return fails(#name, to, EIO, ENOSPC, EROFS) ? -1 : real(from, to); }
NAME1(unlink, EIO, 0) NAME1(rmdir, EIO, 0) NAME2(rename) NAME2(link) NAME2(symlink)
int unlinkat(int at, const char *path, int flags)
{ REAL(unlinkat) return fails("unlinkat", path, EIO, 0, EROFS) ? -1 : real(at, path, flags); }
int renameat(int a, const char *from, int b, const char *to)
{ REAL(renameat) return fails("renameat", to, EIO, ENOSPC, EROFS) ? -1 : real(a, from, b, to); }
int mkdir(const char *path, mode_t mode)
{ REAL(mkdir) return fails("mkdir", path, EIO, ENOSPC, EROFS) ? -1 : real(path, mode); }
int mkdirat(int at, const char *path, mode_t mode)
{ REAL(mkdirat) return fails("mkdirat", path, EIO, ENOSPC, EROFS) ? -1 : real(at, path, mode); }
int chmod(const char *path, mode_t mode)
{ REAL(chmod) return fails("chmod", path, EIO, 0, EPERM) ? -1 : real(path, mode); }
int fchmod(int file, mode_t mode)
{ REAL(fchmod) return fails_of("fchmod", file, EIO, 0, EPERM) ? -1 : real(file, mode); }
int utimensat(int at, const char *path, const struct timespec when[2], int flags)
{ REAL(utimensat) return fails("utimensat", path, EIO, 0, EPERM) ? -1 : real(at, path, when, flags); }
#define STAT(name) int name(const char *path, struct stat64 *is) \
    { REAL(name) return fails(#name, path, EIO, 0, EACCES) ? -1 : real(path, is); }
STAT(stat64) STAT(lstat64)
int fstat64(int file, struct stat64 *is)
{ REAL(fstat64) return fails_of("fstat", file, EIO, 0, 0) ? -1 : real(file, is); }
int fstatat64(int at, const char *path, struct stat64 *is, int flags)
{ REAL(fstatat64) return fails("fstatat", path, EIO, 0, EACCES) ? -1 : real(at, path, is, flags); }
DIR *opendir(const char *path)
{ REAL(opendir) return fails("opendir", path, EIO, EMFILE, EACCES) ? NULL : real(path); }
DIR *fdopendir(int file)
{ REAL(fdopendir) return fails_of("fdopendir", file, EIO, ENOMEM, 0) ? NULL : real(file); }
ssize_t readlink(const char *path, char *to, size_t size)
{ REAL(readlink) return fails("readlink", path, EIO, 0, EACCES) ? -1 : real(path, to, size); }

/* processes, threads and pipes */
int pipe2(int ends[2], int flags) { REAL(pipe2) return fails("pipe", "", EMFILE, ENFILE, 0) ? -1 : real(ends, flags); }
pid_t fork(void) { REAL(fork) return fails("fork", "", EAGAIN, ENOMEM, 0) ? -1 : real(); }
int pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*work)(void *), void *with)
{ REAL(pthread_create) int kept = errno; if (fails("pthread_create", "", EAGAIN, 0, 0)) { errno = kept; return EAGAIN; }
  return real(id, how, work, with); }

/* memory */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int no_memory(const char *call, size_t size)
{
    if (!page || !page->armed || page->what != MEMORY || (long)size < page->least) return 0;
    if (!meant(NULL)) return 0;
    char text[32];
    snprintf(text, sizeof text, "%zu bytes", size);
    if (!fires(call, text)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return no_memory("malloc", size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return no_memory("calloc", n * size) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return no_memory("realloc", size) ? NULL : __libc_realloc(old, size); }
int posix_memalign(void **to, size_t by, size_t size)
{ if (no_memory("posix_memalign", size)) return ENOMEM; *to = __libc_memalign(by, size); return *to ? 0 : ENOMEM; }
void *aligned_alloc(size_t by, size_t size)
{ return no_memory("aligned_alloc", size) ? NULL : __libc_memalign(by, size); }
void *mmap64(void *at, size_t size, int rights, int flags, int file, off64_t from)
{ REAL(mmap64) if (no_memory("mmap", size) || (file >= 0 && fails_of("mmap", file, ENOMEM, 0, 0))) return MAP_FAILED;
  return real(at, size, rights, flags, file, from); }
void *mmap(void *at, size_t size, int rights, int flags, int file, off_t from)
{ return mmap64(at, size, rights, flags, file, from); }

/* For experiments inside one process, which arm the page from Python. */
void failing_worker_starts(void) { started = 1; }
