/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate in a stream: what is queued behind it waits until the test opens it. So a test knows that work is still waiting,
 * without sleeping and hoping.
 */
#ifndef GATE_H
#define GATE_H

#include <pthread.h>

#include "acl/acl.h"
#include "check.h"

typedef struct Gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int reached, open;
} Gate;

#define GATE_INITIALIZER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0}

static inline void gate_pass(void *arg)
{
    Gate *gate = (Gate *)arg;
    pthread_mutex_lock(&gate->mutex);
    gate->reached = 1;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

static inline void gate_open(Gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->open = 1;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* Puts the gate into the stream, and returns once the stream stands before it. */
static inline void gate_hold(Gate *gate, aclrtStream stream)
{
    REQUIRE(aclrtLaunchHostFunc(stream, gate_pass, gate) == ACL_SUCCESS);
    pthread_mutex_lock(&gate->mutex);
    while (!gate->reached)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

#endif
