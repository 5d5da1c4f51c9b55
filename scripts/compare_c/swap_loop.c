/* A swap between ranks 0 and 1 as a plain loop of MPI calls: what `pstswm swap` is compared with.
 *
 *     mpicc -std=c99 -O2 swap_loop.c -o swap_loop
 *     mpirun -n 2 ./swap_loop ORDER/PROTOCOL VOLUME MESSAGES ITERATIONS SAMPLES
 *
 * Each rank sends VOLUME bytes in MESSAGES equal messages, one after the other. A sample is the
 * time of ITERATIONS swaps back to back, divided by ITERATIONS, the larger of the two ranks.
 * Rank 0 prints one line of JSON; times are in seconds.
 *
 * Exit code: 0 ok, 2 bad arguments, else a failure.
 */

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, WARMUP = 3, PING_PONGS = 200, START_ATTEMPTS = 100 };

/* Seconds between the naming of a start and the start. */
static const double LEAST_LEAD = 5e-6, LARGEST_LEAD = 2e-3;

/* One rank's end of the swap. */
struct end {
    int rank, peer;
    MPI_Comm data, signals;
    double *send, *recv;
};

/* ---- checked calls ---- */

static void fail(const char *what, const char *why)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "swap_loop: rank %d: %s: %s\n", rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char *call)
{
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        fail(call, text);
    }
}

static void check_count(MPI_Status *status, int expected)
{
    int count;
    check(MPI_Get_count(status, MPI_DOUBLE, &count), "MPI_Get_count");
    if (count != expected)
        fail("receive", "the message has another length than the receive");
}

static MPI_Request post_receive(const struct end *e, int first, int count)
{
    MPI_Request request;
    check(MPI_Irecv(e->recv + first, count, MPI_DOUBLE, e->peer, TAG, e->data, &request),
          "MPI_Irecv");
    return request;
}

static MPI_Request post_send(const struct end *e, int first, int count)
{
    MPI_Request request;
    check(MPI_Isend(e->send + first, count, MPI_DOUBLE, e->peer, TAG, e->data, &request),
          "MPI_Isend");
    return request;
}

static void wait_receive(MPI_Request *request, int count)
{
    MPI_Status status;
    check(MPI_Wait(request, &status), "MPI_Wait (receive)");
    check_count(&status, count);
}

static void wait_send(MPI_Request *request)
{
    MPI_Status status;
    check(MPI_Wait(request, &status), "MPI_Wait (send)");
}

static void send(const struct end *e, int first, int count)
{
    check(MPI_Send(e->send + first, count, MPI_DOUBLE, e->peer, TAG, e->data), "MPI_Send");
}

static void ready_send(const struct end *e, int first, int count)
{
    check(MPI_Rsend(e->send + first, count, MPI_DOUBLE, e->peer, TAG, e->data), "MPI_Rsend");
}

static void receive(const struct end *e, int first, int count)
{
    MPI_Status status;
    check(MPI_Recv(e->recv + first, count, MPI_DOUBLE, e->peer, TAG, e->data, &status),
          "MPI_Recv");
    check_count(&status, count);
}

static void signal_peer(const struct end *e)
{
    check(MPI_Send(NULL, 0, MPI_DOUBLE, e->peer, TAG, e->signals), "MPI_Send (signal)");
}

static void await_signal(const struct end *e)
{
    check(MPI_Recv(NULL, 0, MPI_DOUBLE, e->peer, TAG, e->signals, MPI_STATUS_IGNORE),
          "MPI_Recv (signal)");
}

/* ---- the swap of one message: the rows of docs/communication.md, call by call ---- */

static void simple_nonblocking(const struct end *e, int first, int count)
{
    MPI_Request received = post_receive(e, first, count);
    MPI_Request sent = post_send(e, first, count);
    wait_receive(&received, count);
    wait_send(&sent);
}

static void simple_nonblocking_recv(const struct end *e, int first, int count)
{
    MPI_Request received = post_receive(e, first, count);
    send(e, first, count);
    wait_receive(&received, count);
}

static void simple_native(const struct end *e, int first, int count)
{
    MPI_Status status;
    check(MPI_Sendrecv(e->send + first, count, MPI_DOUBLE, e->peer, TAG,
                       e->recv + first, count, MPI_DOUBLE, e->peer, TAG, e->data, &status),
          "MPI_Sendrecv");
    check_count(&status, count);
}

static void simple_ready(const struct end *e, int first, int count)
{
    MPI_Request received = post_receive(e, first, count);
    signal_peer(e);
    await_signal(e);
    ready_send(e, first, count);
    wait_receive(&received, count);
}

static void ordered_blocking_lower(const struct end *e, int first, int count)
{
    send(e, first, count);
    receive(e, first, count);
}

static void ordered_blocking_higher(const struct end *e, int first, int count)
{
    receive(e, first, count);
    send(e, first, count);
}

static void ordered_nonblocking_recv_higher(const struct end *e, int first, int count)
{
    MPI_Request received = post_receive(e, first, count);
    wait_receive(&received, count);
    send(e, first, count);
}

typedef void swap_message(const struct end *, int first, int count);

struct protocol {
    const char *order, *name;
    swap_message *lower, *higher;
};

static const struct protocol PROTOCOLS[] = {
    {"simple", "nonblocking", simple_nonblocking, simple_nonblocking},
    {"simple", "nonblocking-recv", simple_nonblocking_recv, simple_nonblocking_recv},
    {"simple", "native", simple_native, simple_native},
    {"simple", "ready", simple_ready, simple_ready},
    {"ordered", "blocking", ordered_blocking_lower, ordered_blocking_higher},
    /* irecv, send, wait: on the lower rank the same calls as when simple */
    {"ordered", "nonblocking-recv", simple_nonblocking_recv, ordered_nonblocking_recv_higher},
};

enum { PROTOCOL_COUNT = sizeof PROTOCOLS / sizeof PROTOCOLS[0] };

/* ---- arguments ---- */

struct task {
    const struct protocol *protocol;
    long volume, messages, iterations, samples;
};

static void refuse(const char *argument, const char *allowed)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "swap_loop: `%s`: %s\n", argument, allowed);
    MPI_Finalize();
    exit(2);
}

static const struct protocol *find_protocol(const char *argument)
{
    for (int i = 0; i < PROTOCOL_COUNT; i++) {
        const struct protocol *p = &PROTOCOLS[i];
        size_t length = strlen(p->order);
        if (strncmp(argument, p->order, length) == 0 && argument[length] == '/' &&
            strcmp(argument + length + 1, p->name) == 0)
            return p;
    }
    refuse(argument, "not one of simple/nonblocking, simple/nonblocking-recv, simple/native, "
                     "simple/ready, ordered/blocking, ordered/nonblocking-recv");
    return NULL;
}

static long positive(const char *argument)
{
    char *rest;
    long value = strtol(argument, &rest, 10);
    if (*rest != '\0' || value < 1 || value == LONG_MAX)
        refuse(argument, "a whole number of at least 1 is expected");
    return value;
}

static struct task read_task(int argc, char **argv)
{
    if (argc != 6)
        refuse("arguments", "ORDER/PROTOCOL VOLUME MESSAGES ITERATIONS SAMPLES are expected");
    struct task task = {find_protocol(argv[1]), positive(argv[2]), positive(argv[3]),
                        positive(argv[4]), positive(argv[5])};
    long message = (long)sizeof(double);
    if (task.messages > LONG_MAX / message || task.volume % (task.messages * message) != 0)
        refuse(argv[2], "VOLUME must be a multiple of 8 bytes times MESSAGES");
    if (task.volume / message > INT_MAX)
        refuse(argv[2], "VOLUME is more than 2^31 - 1 doubles");
    return task;
}

/* ---- data that say where they come from ---- */

static double element(int rank, long index)
{
    return (rank + 1) * 4294967296.0 + (double)index + 1.0;
}

static void verify(const struct end *e, long elements)
{
    for (long i = 0; i < elements; i++)
        if (e->recv[i] != element(e->peer, i) || e->send[i] != element(e->rank, i))
            fail("data", "the swapped data are wrong");
}

/* ---- start and clock ---- */

/* Time on rank 1's clock minus time on rank 0's, and the round trip it was read in. */
struct clocks {
    double offset, round_trip;
};

/* By the ping-pong of the least round trip; only rank 0 learns the result. */
static struct clocks compare_clocks(const struct end *e)
{
    struct clocks best = {0.0, 1e9};
    for (int i = 0; i < PING_PONGS; i++) {
        double there = 0.0;
        if (e->rank == 0) {
            double before = MPI_Wtime();
            check(MPI_Send(NULL, 0, MPI_DOUBLE, 1, TAG, e->signals), "MPI_Send (ping)");
            check(MPI_Recv(&there, 1, MPI_DOUBLE, 1, TAG, e->signals, MPI_STATUS_IGNORE),
                  "MPI_Recv (pong)");
            double after = MPI_Wtime();
            if (after - before < best.round_trip) {
                best.round_trip = after - before;
                best.offset = there - 0.5 * (before + after);
            }
        } else {
            check(MPI_Recv(NULL, 0, MPI_DOUBLE, 0, TAG, e->signals, MPI_STATUS_IGNORE),
                  "MPI_Recv (ping)");
            there = MPI_Wtime();
            check(MPI_Send(&there, 1, MPI_DOUBLE, 0, TAG, e->signals), "MPI_Send (pong)");
        }
    }
    return best;
}

/* Rank 0 names a time `lead` from now; returns it on this rank's own clock. */
static double agree_on_start(const struct end *e, double offset, double lead)
{
    double start;
    if (e->rank == 0) {
        start = MPI_Wtime() + lead;
        double on_peer = start + offset;
        check(MPI_Send(&on_peer, 1, MPI_DOUBLE, 1, TAG, e->signals), "MPI_Send (start)");
    } else {
        check(MPI_Recv(&start, 1, MPI_DOUBLE, 0, TAG, e->signals, MPI_STATUS_IGNORE),
              "MPI_Recv (start)");
    }
    return start;
}

/* Returns whether the start had passed already. */
static int spin_until(double start)
{
    int late = MPI_Wtime() > start;
    while (MPI_Wtime() < start)
        ;
    return late;
}

/* ---- measuring ---- */

static void swap(const struct end *e, const struct task *task)
{
    swap_message *exchange = e->rank == 0 ? task->protocol->lower : task->protocol->higher;
    int count = (int)(task->volume / (long)sizeof(double) / task->messages);
    for (int message = 0; message < task->messages; message++)
        exchange(e, message * count, count);
}

/* Seconds per swap, the larger of the two ranks. A late start is repeated with a longer lead. */
static double sample(const struct end *e, const struct task *task, double offset, double *lead)
{
    for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
        int late = spin_until(agree_on_start(e, offset, *lead));
        double begin = MPI_Wtime();
        for (long i = 0; i < task->iterations; i++)
            swap(e, task);
        double elapsed = MPI_Wtime() - begin;

        double mine[2] = {elapsed, late}, largest[2];
        check(MPI_Allreduce(mine, largest, 2, MPI_DOUBLE, MPI_MAX, e->data), "MPI_Allreduce");
        if (largest[1] == 0.0)
            return largest[0] / (double)task->iterations;
        if (2.0 * *lead <= LARGEST_LEAD)
            *lead *= 2.0;
    }
    fail("start", "the ranks cannot start together; are there more ranks than processors?");
    return 0.0;
}

static void measure(const struct end *e, const struct task *task, double *samples)
{
    struct clocks clocks = compare_clocks(e);
    double lead = 2.0 * clocks.round_trip;
    if (lead < LEAST_LEAD)
        lead = LEAST_LEAD;
    for (int i = 0; i < WARMUP; i++)
        sample(e, task, clocks.offset, &lead);
    for (long i = 0; i < task->samples; i++)
        samples[i] = sample(e, task, clocks.offset, &lead);
}

/* ---- result ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The samples leave this function sorted. */
static void print_summary(double *samples, long count)
{
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    double median = 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
    printf(", \"min\": %.9e, \"median\": %.9e}}\n", samples[0], median);
}

/* The first line of what the library says it is. */
static void print_library(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
    printf("\"library\": \"");
    for (const char *c = text; *c != '\0' && *c != '\n'; c++)
        putchar(*c == '"' || *c == '\\' ? '\'' : *c < ' ' ? ' ' : *c);
    printf("\"");
}

static void print_result(const struct task *task, double *samples)
{
    printf("{");
    print_library();
    printf(", \"order\": \"%s\", \"protocol\": \"%s\", \"volume_bytes\": %ld, \"messages\": %ld, "
           "\"iterations\": %ld, \"seconds\": {\"samples\": [",
           task->protocol->order, task->protocol->name, task->volume, task->messages,
           task->iterations);
    for (long i = 0; i < task->samples; i++)
        printf("%s%.9e", i == 0 ? "" : ", ", samples[i]);
    printf("]");
    print_summary(samples, task->samples);
}

/* ---- set-up ---- */

static MPI_Comm own_communicator(void)
{
    MPI_Comm comm;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return comm;
}

static double *allocate(long elements)
{
    double *result = malloc((size_t)elements * sizeof(double));
    if (result == NULL)
        fail("malloc", "out of memory");
    return result;
}

static struct end make_end(int rank, long elements)
{
    struct end e = {rank, 1 - rank, own_communicator(), own_communicator(),
                    allocate(elements), allocate(elements)};
    for (long i = 0; i < elements; i++)
        e.send[i] = element(rank, i);
    return e;
}

static void free_end(struct end *e)
{
    free(e->send);
    free(e->recv);
    check(MPI_Comm_free(&e->data), "MPI_Comm_free");
    check(MPI_Comm_free(&e->signals), "MPI_Comm_free");
}

static void clear_received(struct end *e, long elements)
{
    for (long i = 0; i < elements; i++)
        e->recv[i] = 0.0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        refuse("ranks", "2 are needed; is this the launcher of the MPI it was compiled with?");
    struct task task = read_task(argc, argv);

    long elements = task.volume / (long)sizeof(double);
    struct end e = make_end(rank, elements);
    double *samples = allocate(task.samples);
    clear_received(&e, elements);
    swap(&e, &task);
    verify(&e, elements);
    clear_received(&e, elements);
    measure(&e, &task, samples);
    verify(&e, elements);

    if (rank == 0)
        print_result(&task, samples);
    free(samples);
    free_end(&e);
    MPI_Finalize();
    return 0;
}
