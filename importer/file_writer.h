#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace concord::importer {

// Writes the parts one after the other to a file beside the target, which then takes its place: a
// reader sees the old file or the new one. A target that is no regular file (/dev/stdout) is
// written to directly. Throws Error(failed) where the machine refuses (disk full), Error(usage)
// where the path cannot be written (no such folder, no permission).
void write_parts(const std::filesystem::path& path, std::span<const std::string_view> parts);

}  // namespace concord::importer
