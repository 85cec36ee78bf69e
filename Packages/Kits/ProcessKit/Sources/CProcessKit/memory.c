#include "CProcessKit.h"

#include <sys/prctl.h>

void processkit_hide_memory(void) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
