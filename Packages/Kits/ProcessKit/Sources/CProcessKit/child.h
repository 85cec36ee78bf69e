// Declarations shared by the files that start a child.
#pragma once

#include "CProcessKit.h"

// Why a child could not become its program: the system's error number, and the stage.
struct failure {
    int number;
    int stage;
};

// Each returns 0, or -1 with errno. They call only functions that are safe in a signal handler, and their effects stay
// when the child becomes a program.
int processkit_drop_groups(void);
int processkit_drop_rights(void);
int processkit_restrict(const struct processkit_restriction *_Nonnull restriction);
int processkit_filter(const struct processkit_restriction *_Nonnull restriction);

// Starts the child, which shares the memory of its parent until it has become its program.
int processkit_start(const struct processkit_spawn *_Nonnull request, struct failure *_Nonnull failure);

// Starts the child below a supervisor process that ends with it, and ends everything that the child has started.
int processkit_supervise(const struct processkit_spawn *_Nonnull request, struct failure *_Nonnull failure);
