/* The module yoke-mpi.so: MPI calls for the driver of mpi_ranks.h. Only this file is linked with
 * MPI. */
#include <mpi.h>
#include <string.h>

#include "remote/mpi_ranks.h"

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "requests are kept in one word");

static MPI_Comm all = MPI_COMM_NULL;

static bool open(int *rank, int *count)
{
    /* Threads take turns; the lock is in mpi_ranks.c. */
    int provided;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED)
        return false;

    /* Our own messages report failures, and the program does not end. */
    return MPI_Comm_dup(MPI_COMM_WORLD, &all) == MPI_SUCCESS &&
           MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN) == MPI_SUCCESS &&
           MPI_Comm_rank(all, rank) == MPI_SUCCESS && MPI_Comm_size(all, count) == MPI_SUCCESS;
}

static bool hosts(char *names)
{
    char own[MPI_MAX_PROCESSOR_NAME + 1] = "";
    char cut[YK_HOST_NAME] = "";
    int length = 0;
    MPI_Get_processor_name(own, &length);

    /* All ranks gather names of the same size. */
    memcpy(cut, own, sizeof cut - 1);
    return MPI_Allgather(cut, YK_HOST_NAME, MPI_CHAR, names, YK_HOST_NAME, MPI_CHAR, all) ==
           MPI_SUCCESS;
}

static void close_all(void)
{
    MPI_Comm_free(&all);
    MPI_Finalize();
}

static void end_all(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static bool probe(int *from, int *tag, size_t *bytes)
{
    int source = *from == YK_ANY ? MPI_ANY_SOURCE : *from;
    int wanted = *tag == YK_ANY ? MPI_ANY_TAG : *tag;
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(source, wanted, all, &there, &status) != MPI_SUCCESS || !there)
        return false;

    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = status.MPI_SOURCE;
    *tag = status.MPI_TAG;
    *bytes = (size_t)count;
    return true;
}

static bool receive(void *bytes, size_t count, int from, int tag)
{
    return MPI_Recv(bytes, (int)count, MPI_BYTE, from, tag, all, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

static bool send(const void *bytes, size_t count, int to, int tag, uint64_t *request)
{
    MPI_Request own;
    if (MPI_Isend(bytes, (int)count, MPI_BYTE, to, tag, all, &own) != MPI_SUCCESS)
        return false;

    memcpy(request, &own, sizeof own);
    return true;
}

static bool sent(uint64_t *request)
{
    MPI_Request own;
    int done = 0;
    memcpy(&own, request, sizeof own);

    /* The request becomes MPI_REQUEST_NULL when the message is sent. */
    MPI_Test(&own, &done, MPI_STATUS_IGNORE);
    memcpy(request, &own, sizeof own);
    return done;
}

extern const yk_ranks_driver yk_ranks_driver_mpi;
const yk_ranks_driver yk_ranks_driver_mpi = {
    .size = sizeof(yk_ranks_driver),
    .name = "MPI",
    .open = open,
    .hosts = hosts,
    .close = close_all,
    .abort = end_all,
    .probe = probe,
    .receive = receive,
    .send = send,
    .sent = sent,
};
