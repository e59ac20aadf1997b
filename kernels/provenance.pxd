# What a compiled kernel was made from. setup.py defines the three macros for each
# module: a result can then name the sources and flags that produced it, and a
# changed kernel is never mistaken for the old one.

cdef extern from *:
    """
    #ifndef SVMBENCH_SOURCE_SHA256
    #define SVMBENCH_SOURCE_SHA256 "unknown"
    #define SVMBENCH_CFLAGS "unknown"
    #define SVMBENCH_COMPILER "unknown"
    #endif
    """
    const char *SVMBENCH_SOURCE_SHA256
    const char *SVMBENCH_CFLAGS
    const char *SVMBENCH_COMPILER


cdef inline dict build_record():
    return {
        "source_sha256": SVMBENCH_SOURCE_SHA256.decode(),
        "flags": SVMBENCH_CFLAGS.decode(),
        "compiler": SVMBENCH_COMPILER.decode(),
    }
