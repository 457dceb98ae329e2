/* Each launcher has variables of its own; the first row whose variables are set counts. The rank is
 * needed before MPI starts: comm.c checks the number of ranks, and only rank 0 prints. */
#include "runtime/base/launcher.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct {
    const char *rank, *ranks;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 /* srun with PMIx. Last, because mpirun may run inside a Slurm step. */
                 {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/* Returns the rank or the number of ranks that the launcher set; `otherwise` without a launcher. */
static int launched(bool ranks, int otherwise) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *value = getenv(ranks ? launchers[i].ranks : launchers[i].rank);
        if (value)
            return (int)strtol(value, NULL, 10);
    }
    return otherwise;
}

int launched_rank(void) { return launched(false, 0); }

int launched_ranks(void) { return launched(true, 1); }
