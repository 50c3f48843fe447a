#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/run/measure.h"

namespace fathom {

/// MPI, from MPI_Init to MPI_Finalize; errors come back instead of ending the job.
class MpiJob {
 public:
  /// Throws Error(setup_incomplete) if MPI cannot be started.
  MpiJob(int* argc, char*** argv);
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// "Open MPI v4.1.4", "MPICH Version: 4.0.2"
  std::string library_version() const;
  /// Only where every rank comes here: where one is gone it would wait for ever. Without it the
  /// process has to be ended by _exit.
  void finalize();
  /// In its place where a rank is gone, before _exit: tells Slurm's PMIx that this rank's end is
  /// none for the others. Of launchers that start their ranks otherwise it does nothing.
  static void take_leave();

 private:
  int rank_ = 0, size_ = 1;
};

/// The ranks of one host, by MPI; they see each other's deaths by their process numbers.
class MpiHostTurns : public HostTurns {
 public:
  /// All ranks of the job must come here. `limit`: for which one rank waits for another. It and
  /// what follows of all ranks throws Error(setup_incomplete) where MPI says that one is lost.
  MpiHostTurns(std::chrono::duration<double> limit, SignalInbox& inbox);

  int local_rank() const { return local_rank_; }
  int local_size() const { return local_size_; }
  /// What every rank of the host says, in the order of their local ranks. All must come here.
  std::vector<std::string> exchange(const std::string& text) const;
  /// `name`, or where another host's ranks have the same one, that with a number. All ranks of the
  /// job must come here.
  std::string unique_host_name(const std::string& name) const;

  void set_gpus(int gpus, const std::string& devices) { gpus_ = gpus, devices_ = devices; }
  int gpus() const override { return gpus_; }
  std::string visible_devices() const override { return devices_; }
  bool leader() const override { return local_rank_ == 0; }
  bool all_here() override;

 private:
  bool peer_is_gone() const;

  std::chrono::duration<double> limit_;
  SignalInbox& inbox_;
  MPI_Comm host_ = MPI_COMM_NULL;
  int local_rank_ = 0, local_size_ = 1, gpus_ = 1;
  std::string devices_;
  std::vector<int> peers_;  ///< process numbers; empty: not of one numbering
  bool broken_ = false;
};

/// A text, of whatever length, on its way to rank 0. It goes on with every call of MPI, and waits
/// for nobody: rank 0 may be dead.
class Sending {
 public:
  explicit Sending(std::string text);
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  /// Only once rank 0 is known to have it.
  void finish();

 private:
  std::string text_;
  std::uint64_t size_;
  std::vector<MPI_Request> requests_;
};

/// Texts of the other ranks as they come in, at rank 0.
class Gathering {
 public:
  explicit Gathering(int size);
  /// Takes what has arrived, each whole text once.
  void poll(const std::function<void(int rank, std::string&& text)>& take);
  bool complete() const { return waiting_.empty(); }
  /// Ranks whose text has not come.
  const std::set<int>& waiting() const { return waiting_; }
  void give_up(int rank) { waiting_.erase(rank); }

 private:
  struct Arriving {
    std::uint64_t size = 0;
    std::string text;
  };
  std::set<int> waiting_;
  std::map<int, Arriving> arriving_;
};

/// Rank 0 tells the others that it has all it wants; whether all of them are alive.
void say_goodbye(int size, const std::set<int>& gone, bool all_alive);
/// The others wait for that, up to a limit or until `in_vain` says that it will not come; nothing:
/// it did not, or an interrupt did.
std::optional<bool> wait_for_goodbye(std::chrono::duration<double> limit, SignalInbox& inbox,
                                     const std::function<bool()>& in_vain);

}  // namespace fathom
