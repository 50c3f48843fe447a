#pragma once

#include "sandbox.h"

namespace fathom {

/// What this machine lacks to start a Slurm of its own; empty: nothing.
std::string why_no_slurm();

/// A Slurm whose nodes n1, n2 are this machine, with two GPUs each as far as Slurm knows, and for
/// each task a fake GPU of its own. It needs no other user than this one, no munge and no port that
/// is not free, and leaves with its jobs.
class SlurmCluster {
 public:
  /// Fails the test where it does not come up.
  explicit SlurmCluster(Sandbox& box);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  std::string log() const;

 private:
  void take_ports();
  void configure() const;
  void start(const std::string& program, std::vector<std::string> words);

  Sandbox& box_;
  std::filesystem::path folder_;
  FileDescriptor output_;
  /// The first port of a block that no other test has. It is held as long as this lives, and is the
  /// number of the first job: Open MPI names ranks by that number, and takes whoever calls by such
  /// a name for one of its own.
  int first_port_ = 0;
  FileDescriptor held_;
  std::vector<std::unique_ptr<ChildProcess>> daemons_;
};

}  // namespace fathom
