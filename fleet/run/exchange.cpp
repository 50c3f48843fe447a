// fathom-fleet-rank: tells every rank what each of them says. The only program with MPI in it, and
// it ends before anything is measured, so that no death of a rank is MPI's business. Writes a line
// for each rank: the first rank of its host, and what the rank said.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "results/error.h"

namespace {

void require(int code) {
  if (code == MPI_SUCCESS) return;
  // A communicator that MPI could not make is not to be used, and MPI_Finalize would wait.
  std::fputs(
      "fathom: A rank was lost before all had come together: see what the others say, and start "
      "again.\n",
      stderr);
  _exit(fathom::to_int(fathom::ExitCode::setup_incomplete));
}

}  // namespace

/// What this rank says, without a newline.
int main(int argc, char** argv) {
  if (argc != 2 || MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm host = MPI_COMM_NULL;
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  MPI_Comm_set_errhandler(host, MPI_ERRORS_RETURN);
  int leader = rank;
  require(MPI_Bcast(&leader, 1, MPI_INT, 0, host));

  std::string own = std::to_string(leader) + ' ' + argv[1];
  int longest = static_cast<int>(own.size()) + 1;
  require(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  const auto room = static_cast<std::size_t>(longest);
  own.resize(room, '\0');
  std::string all(room * static_cast<std::size_t>(size), '\0');
  require(
      MPI_Allgather(own.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, MPI_COMM_WORLD));
  for (std::size_t at = 0; at < all.size(); at += room) std::puts(all.c_str() + at);
  MPI_Finalize();
}
