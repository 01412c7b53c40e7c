// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// States of requests: null and inactive ones, persistent ones that start again, those that are
// freed.

#include "check.h"

static int to(void) { return (rank + 1) % size; }
static int from(void) { return (rank + size - 1) % size; }

static void check_empty(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0);
}

static void check_inactive(MPI_Request* all, int count) {
  int flag = 0, index = 0, done = 0, indices[4];
  MPI_Status status, statuses[4];
  MPI_Test(&all[0], &flag, &status);
  CHECK(flag);
  check_empty(&status);
  MPI_Wait(&all[0], &status);
  check_empty(&status);
  MPI_Testany(count, all, &index, &flag, &status);
  CHECK(flag && index == MPI_UNDEFINED);
  MPI_Waitany(count, all, &index, &status);
  CHECK(index == MPI_UNDEFINED);
  check_empty(&status);
  MPI_Testall(count, all, &flag, statuses);
  CHECK(flag);
  for (int i = 0; i < count; ++i) check_empty(&statuses[i]);
  MPI_Waitall(count, all, statuses);
  for (int i = 0; i < count; ++i) check_empty(&statuses[i]);
  MPI_Waitsome(count, all, &done, indices, statuses);
  CHECK(done == MPI_UNDEFINED);
  MPI_Testsome(count, all, &done, indices, statuses);
  CHECK(done == MPI_UNDEFINED);
}

static void check_persistent(void) {
  int sent = 0, received = -1, index = -1;
  MPI_Request all[3];
  MPI_Status status;
  MPI_Send_init(&sent, 1, MPI_INT, to(), 3, MPI_COMM_WORLD, &all[0]);
  MPI_Recv_init(&received, 1, MPI_INT, from(), 3, MPI_COMM_WORLD, &all[1]);
  all[2] = MPI_REQUEST_NULL;
  check_inactive(all, 3);
  for (int round = 0; round < 3; ++round) {
    sent = 10 * round + rank;  // is read at the start
    MPI_Startall(2, all);
    MPI_Wait(&all[1], &status);
    CHECK(received == 10 * round + from());
    CHECK(status.MPI_SOURCE == from() && status.MPI_TAG == 3);
    MPI_Waitany(3, all, &index, MPI_STATUS_IGNORE);
    CHECK(index == 0 && all[0] != MPI_REQUEST_NULL && all[1] != MPI_REQUEST_NULL);
  }
  check_inactive(all, 3);
  MPI_Request_free(&all[0]);
  MPI_Request_free(&all[1]);
  CHECK(all[0] == MPI_REQUEST_NULL);
}

static void check_nobody(void) {
  int data = 5, count = -1;
  MPI_Request all[2];
  MPI_Status status;
  MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[0]);
  MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &all[1]);
  MPI_Startall(2, all);
  MPI_Wait(&all[0], &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
  MPI_Wait(&all[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&all[0]);
  MPI_Request_free(&all[1]);
  MPI_Sendrecv_replace(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                       &status);
  CHECK(data == 5 && status.MPI_SOURCE == MPI_PROC_NULL);
}

// A type, a communicator and a request are freed while a receive uses them.
static void check_freed(void) {
  int sent[2] = {rank, -rank}, received[3] = {-1, -1, -1}, last = 0;
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Irecv(received, 1, type, from(), 4, comm, &request);
  MPI_Type_free(&type);
  MPI_Send(sent, 2, MPI_INT, to(), 4, comm);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(received[0] == from() && received[1] == -1 && received[2] == -from());

  received[0] = -1;
  MPI_Irecv(received, 1, MPI_INT, from(), 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Ssend(&sent[0], 1, MPI_INT, to(), 5, MPI_COMM_WORLD);
  MPI_Sendrecv(&rank, 1, MPI_INT, to(), 6, &last, 1, MPI_INT, from(), 6, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(received[0] == from() && last == from());

  received[0] = -1;
  MPI_Irecv(received, 1, MPI_INT, from(), 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Ssend(&sent[0], 1, MPI_INT, to(), 5, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);  // the last word that the program hears of it
  CHECK(received[0] == from());
}

// All that are complete are told, each once.
static void check_some(void) {
  int received[3], sent[3] = {1, 2, 3}, done = 0, indices[3], all_done = 0, flag = 1;
  MPI_Request all[3];
  MPI_Status statuses[3];
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&received[i], 1, MPI_INT, rank, 20 + i, MPI_COMM_WORLD, &all[i]);
  }
  MPI_Testsome(3, all, &done, indices, statuses);
  CHECK(done == 0);
  MPI_Send(&sent[2], 1, MPI_INT, rank, 22, MPI_COMM_WORLD);
  MPI_Waitsome(3, all, &done, indices, statuses);
  CHECK(done == 1 && indices[0] == 2 && statuses[0].MPI_TAG == 22 && received[2] == 3);
  MPI_Testall(3, all, &flag, MPI_STATUSES_IGNORE);
  CHECK(!flag && all[0] != MPI_REQUEST_NULL);
  MPI_Send(&sent[1], 1, MPI_INT, rank, 21, MPI_COMM_WORLD);
  MPI_Rsend(&sent[0], 1, MPI_INT, rank, 20, MPI_COMM_WORLD);
  while (all_done < 2) {
    MPI_Testsome(3, all, &done, indices, statuses);
    CHECK(done >= 0);
    for (int i = 0; i < done; ++i) CHECK(statuses[i].MPI_TAG == 20 + indices[i]);
    all_done += done;
  }
  CHECK(received[0] == 1 && received[1] == 2);
}

void check_requests(void) {
  check_persistent();
  check_nobody();
  check_freed();
  check_some();
}
