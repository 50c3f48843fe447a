#include <exception>
#include <iostream>

#include "harness/probe.h"
#include "results/error.h"
#include "results/files.h"
#include "results/text.h"

int main(int argc, char** argv) {
  fathom::open_standard_streams();
  try {
    return fathom::to_int(fathom::probe_main(argc, argv, fathom::make_probe()));
  } catch (const fathom::Error& error) {
    std::cerr << fathom::clean(error.what()) << '\n';
    return fathom::to_int(error.code());
  } catch (const std::exception& error) {
    std::cerr << "This is a defect in Fathom, please report it: " << error.what() << '\n';
    return fathom::to_int(fathom::ExitCode::probe_crashed);
  }
}
