# A second thread, which works beside its caller whenever it is called.
#
#   start(partner)               make the thread, of a partner that is all zeros; 0, or the error's
#                                number
#   call(partner, work, given)   have it call work(given), once what it was called for before is
#                                finished
#   finish(partner)              wait until it has
#   stop(partner)                end it, whether it was made or not
#   meet(partner, t)             wait, in thread t, until the other thread has met as often; the
#                                caller is thread 0
#
# Calls follow each other within microseconds, and to wake a thread takes tens of them. A thread
# that waits therefore looks again and again at first. Then the partner sleeps until it is called,
# and one that waits for the other's work offers its processor: there may be only one.
#
# Linux often wakes a thread on the processor of the thread that called it, and leaves it there for
# milliseconds, though another one is idle. The caller therefore keeps its partner off its own.

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <pthread.h>
    #include <sched.h>
    #include <stdint.h>
    #include <unistd.h>

    #if defined(__x86_64__) || defined(__i386__)
    #define SVMBENCH_PAUSE() __builtin_ia32_pause()
    #else
    #define SVMBENCH_PAUSE() ((void) 0)
    #endif

    /* Looks before the processor is offered to others, and before the partner sleeps. */
    enum { SVMBENCH_LOOKS = 2000, SVMBENCH_PATIENCE = 20000 };

    typedef void (*svmbench_work_t)(void *);

    /* Counts that threads write in turn are on cache lines of their own. */
    typedef struct {
        int64_t met[2][16];
        int64_t asked, apart[15];       /* calls so far */
        int64_t done;                   /* those that have been served */
        int sleeping, ending;
        pid_t process;                  /* that has the thread; 0 before `start` */
        int processor;                  /* of the caller, which the partner keeps off */
        svmbench_work_t work;
        void *given;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t called;
    } Partner;

    /* The processors that the process may use, but for the caller's; whether there are any. */
    #ifdef __linux__
    static int svmbench_others(int own, cpu_set_t *others)
    {
        if (own < 0 || sched_getaffinity(getpid(), sizeof *others, others) != 0)
            return 0;
        CPU_CLR(own, others);
        return CPU_COUNT(others) > 0;
    }
    #endif

    static inline void svmbench_await(const int64_t *count, int64_t wanted)
    {
        unsigned looks = 0;
        while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < wanted) {
            if (++looks < SVMBENCH_LOOKS)
                SVMBENCH_PAUSE();
            else
                sched_yield();
        }
    }

    static inline void svmbench_meet(Partner *partner, int t)
    {
        const int64_t times = partner->met[t][0] + 1;
        __atomic_store_n(&partner->met[t][0], times, __ATOMIC_RELEASE);
        svmbench_await(&partner->met[1 - t][0], times);
    }

    static void svmbench_sleep(Partner *partner, int64_t times)
    {
        pthread_mutex_lock(&partner->lock);
        __atomic_store_n(&partner->sleeping, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&partner->asked, __ATOMIC_SEQ_CST) < times)
            pthread_cond_wait(&partner->called, &partner->lock);
        __atomic_store_n(&partner->sleeping, 0, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&partner->lock);
    }

    static void *svmbench_serve(void *given)
    {
        Partner *partner = given;
        for (int64_t times = 1;; times++) {
            unsigned looks = 0;
            while (__atomic_load_n(&partner->asked, __ATOMIC_ACQUIRE) < times) {
                if (++looks < SVMBENCH_PATIENCE)
                    SVMBENCH_PAUSE();
                else
                    svmbench_sleep(partner, times);
            }
            if (partner->ending)
                return NULL;
            partner->work(partner->given);
            __atomic_store_n(&partner->done, times, __ATOMIC_RELEASE);
        }
    }

    static int svmbench_start(Partner *partner)
    {
        pthread_attr_t how;
        int error;
        pthread_mutex_init(&partner->lock, NULL);
        pthread_cond_init(&partner->called, NULL);
        pthread_attr_init(&how);
    #ifdef __linux__
        cpu_set_t others;
        partner->processor = sched_getcpu();
        if (svmbench_others(partner->processor, &others))
            pthread_attr_setaffinity_np(&how, sizeof others, &others);
    #endif
        error = pthread_create(&partner->thread, &how, svmbench_serve, partner);
        pthread_attr_destroy(&how);
        partner->process = error == 0 ? getpid() : 0;
        return error;
    }

    static void svmbench_keep_apart(Partner *partner)
    {
    #ifdef __linux__
        const int own = sched_getcpu();
        cpu_set_t others;
        if (own != partner->processor && svmbench_others(own, &others)) {
            pthread_setaffinity_np(partner->thread, sizeof others, &others);
            partner->processor = own;
        }
    #else
        (void) partner;
    #endif
    }

    static void svmbench_call(Partner *partner, svmbench_work_t work, void *given)
    {
        svmbench_keep_apart(partner);
        partner->work = work;
        partner->given = given;
        __atomic_store_n(&partner->asked, partner->asked + 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&partner->sleeping, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&partner->lock);
            pthread_cond_signal(&partner->called);
            pthread_mutex_unlock(&partner->lock);
        }
    }

    static void svmbench_finish(Partner *partner)
    {
        svmbench_await(&partner->done, partner->asked);
    }

    static void svmbench_stop(Partner *partner)
    {
        /* A process that was forked does not have the thread. */
        if (partner->process == 0 || partner->process != getpid())
            return;
        svmbench_finish(partner);
        partner->ending = 1;
        svmbench_call(partner, NULL, NULL);
        pthread_join(partner->thread, NULL);
        pthread_cond_destroy(&partner->called);
        pthread_mutex_destroy(&partner->lock);
        partner->process = 0;
    }
    """
    ctypedef struct Partner:
        pass
    ctypedef void (*work_t "svmbench_work_t")(void *) noexcept nogil
    int start "svmbench_start"(Partner *partner) noexcept nogil
    void call "svmbench_call"(Partner *partner, work_t work, void *given) noexcept nogil
    void finish "svmbench_finish"(Partner *partner) noexcept nogil
    void stop "svmbench_stop"(Partner *partner) noexcept nogil
    void meet "svmbench_meet"(Partner *partner, int t) noexcept nogil
