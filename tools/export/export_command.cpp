#include <algorithm>
#include <optional>

#include "results/document_io.h"
#include "results/output_file.h"
#include "results/standard_streams.h"
#include "tools/commands.h"
#include "tools/export/export.h"

namespace fathom {

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"machine", machine_export},         {"csv", csv_export},
      {"openmetrics", openmetrics_export}, {"bmf", bmf_export},
      {"accelsim", accelsim_export},       {"inductor", inductor_export}};
  return formats;
}

ExitCode export_command(const ExportArguments& options) {
  require_distinct({{"RESULT", options.result}}, {{"--out", options.out}});
  std::optional<OutputFile> out = writable_output(options.out);
  const auto format = std::ranges::find(export_formats(), options.format, &ExportFormat::name);
  const std::string text = format->text(read_document(options.result));
  if (out)
    out->write(text);
  else
    print_out(text);
  return ExitCode::ok;
}

}  // namespace fathom
