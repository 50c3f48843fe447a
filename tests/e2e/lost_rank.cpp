// Before MPI, by LD_PRELOAD: a communicator that MPI cannot make, since a rank is lost.

#include <mpi.h>

extern "C" int MPI_Comm_split_type(MPI_Comm /*ranks*/, int /*type*/, int /*key*/, MPI_Info /*info*/,
                                   MPI_Comm* made) {
  *made = MPI_COMM_NULL;
  return MPI_ERR_OTHER;
}
