/* SPDX-FileCopyrightText: the outsize authors
 * SPDX-License-Identifier: BSL-1.0 */
#ifndef OUTSIZE_BSP_EM_H
#define OUTSIZE_BSP_EM_H

/* The C interface of PEMS: virtual processors of one process, with MPI's parameters.
 *
 *   void program(void* argument) {
 *     int rank;
 *     EM_Comm_rank(EM_COMM_WORLD, &rank);
 *     double* mine = EM_malloc(n * sizeof(double));      on disk while others compute
 *     EM_Alltoall(...);
 *   }
 *   ...
 *   EM_Options options = {0};
 *   options.memory_bytes = 1ull << 30;
 *   if (EM_Run(64, program, argument, &options) != EM_SUCCESS) puts(EM_Message());
 *
 * Between MPI and this a program changes the names of the calls, malloc and free. Counts and
 * displacements are 64 bits long. Memory from EM_malloc belongs to one processor and counts;
 * globals and other memory are shared by all processors and stay where they are.
 *
 * Reductions fold in the order of ranks. A message longer than its buffer, a rank that does not
 * exist, an operation that a type does not have, and members of a communicator that call different
 * operations end the run: EM_Run returns EM_FAILED, and EM_Message() says which processor it was.
 * Functions return EM_SUCCESS else. They may be called by virtual processors only, EM_Run and
 * EM_Message by others only.
 *
 * A run that fails unwinds the processors' stacks by C++ exceptions: C compilers for x86-64 and
 * AArch64 prepare for that by themselves, others with -fexceptions. Layer: bsp.
 * Source: Nikseresht, Hutchinson, Maheshwari: PEMS, 2007, section 3. Checked: em_test.cpp. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { EM_SUCCESS = 0, EM_FAILED = 1 };
enum { EM_ANY_SOURCE = -1, EM_ANY_TAG = -1, EM_UNDEFINED = -32766 };

/* Processors that communicate: a number that only the processor itself understands. */
typedef int EM_Comm;
enum { EM_COMM_NULL = 0, EM_COMM_WORLD = 1 };

typedef enum {
  EM_BYTE,
  EM_CHAR,
  EM_SHORT,
  EM_INT,
  EM_LONG,
  EM_UNSIGNED_CHAR,
  EM_UNSIGNED_SHORT,
  EM_UNSIGNED,
  EM_UNSIGNED_LONG,
  EM_INT8_T,
  EM_INT16_T,
  EM_INT32_T,
  EM_INT64_T,
  EM_UINT8_T,
  EM_UINT16_T,
  EM_UINT32_T,
  EM_UINT64_T,
  EM_FLOAT,
  EM_DOUBLE,
  EM_LONG_DOUBLE
} EM_Datatype;

typedef enum {
  EM_MAX,
  EM_MIN,
  EM_SUM,
  EM_PROD,
  EM_LAND,
  EM_LOR,
  EM_LXOR,
  EM_BAND,
  EM_BOR,
  EM_BXOR
} EM_Op;

typedef struct {
  int EM_SOURCE;
  int EM_TAG;
  int64_t bytes; /* Of the message. */
} EM_Status;

#define EM_STATUS_IGNORE ((EM_Status*)0)
/* As the first buffer of Reduce (at the root), Allreduce, Scan: the second has the own items. */
#define EM_IN_PLACE ((void*)1)

/* Zeros: as the library finds best (run_plan.hpp). */
typedef struct {
  char const* directories; /* On the disks to be used, divided by colons; NULL: the default ones. */
  uint64_t memory_bytes;   /* For contexts and messages. */
  uint64_t context_bytes;  /* The most that one processor may allocate. */
  int workers;             /* Processors that compute at the same time. */
} EM_Options;

/* Runs `program(argument)` on `count` virtual processors. `options` may be NULL. */
int EM_Run(int count, void (*program)(void*), void* argument, EM_Options const* options);
/* The failure of this thread's last EM_Run; "" if it succeeded. Valid until the next one. */
char const* EM_Message(void);

/* MPI programs call these first and last; here they need not be called. */
int EM_Init(int* argc, char*** argv);
int EM_Finalize(void);
/* Ends the run: EM_Run fails with this code in its message. */
int EM_Abort(EM_Comm comm, int code);

int EM_Comm_rank(EM_Comm comm, int* rank);
int EM_Comm_size(EM_Comm comm, int* size);
/* EM_UNDEFINED as color: the processor is in none, and gets EM_COMM_NULL. */
int EM_Comm_split(EM_Comm comm, int color, int key, EM_Comm* made);
double EM_Wtime(void);

/* Memory of the calling processor, as malloc() and its family; NULL if it may not have as much. */
void* EM_malloc(size_t bytes);
void* EM_calloc(size_t count, size_t bytes);
void* EM_realloc(void* memory, size_t bytes);
void EM_free(void* memory);
/* The contents of memory are of no use any more: they are not moved. They may become zeros. */
void EM_Discard(void* memory, size_t bytes);

int EM_Barrier(EM_Comm comm);
int EM_Bcast(void* items, int64_t count, EM_Datatype type, int root, EM_Comm comm);
int EM_Reduce(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
              int root, EM_Comm comm);
int EM_Allreduce(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
                 EM_Comm comm);
int EM_Scan(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
            EM_Comm comm);
/* Leaves the result of the first processor as it is. */
int EM_Exscan(void const* items, void* result, int64_t count, EM_Datatype type, EM_Op operation,
              EM_Comm comm);

int EM_Gather(void const* items, int64_t count, EM_Datatype type, void* all, int64_t each,
              EM_Datatype all_type, int root, EM_Comm comm);
int EM_Gatherv(void const* items, int64_t count, EM_Datatype type, void* all,
               int64_t const counts[], int64_t const displacements[], EM_Datatype all_type,
               int root, EM_Comm comm);
int EM_Scatter(void const* all, int64_t each, EM_Datatype all_type, void* items, int64_t count,
               EM_Datatype type, int root, EM_Comm comm);
int EM_Scatterv(void const* all, int64_t const counts[], int64_t const displacements[],
                EM_Datatype all_type, void* items, int64_t count, EM_Datatype type, int root,
                EM_Comm comm);
int EM_Allgather(void const* items, int64_t count, EM_Datatype type, void* all, int64_t each,
                 EM_Datatype all_type, EM_Comm comm);
int EM_Allgatherv(void const* items, int64_t count, EM_Datatype type, void* all,
                  int64_t const counts[], int64_t const displacements[], EM_Datatype all_type,
                  EM_Comm comm);
int EM_Alltoall(void const* out, int64_t out_each, EM_Datatype out_type, void* in, int64_t in_each,
                EM_Datatype in_type, EM_Comm comm);
int EM_Alltoallv(void const* out, int64_t const out_counts[], int64_t const out_displacements[],
                 EM_Datatype out_type, void* in, int64_t const in_counts[],
                 int64_t const in_displacements[], EM_Datatype in_type, EM_Comm comm);

/* The same in two rounds of messages of about equal length: for exchanges in which some pairs have
   far more items than others. */
int EM_Alltoallv_balanced(void const* out, int64_t const out_counts[],
                          int64_t const out_displacements[], EM_Datatype out_type, void* in,
                          int64_t const in_counts[], int64_t const in_displacements[],
                          EM_Datatype in_type, EM_Comm comm);

int EM_Send(void const* items, int64_t count, EM_Datatype type, int to, int tag, EM_Comm comm);
int EM_Recv(void* items, int64_t most, EM_Datatype type, int from, int tag, EM_Comm comm,
            EM_Status* status);

#ifdef __cplusplus
}
#endif

#endif
