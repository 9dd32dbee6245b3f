#pragma once

#include "apps/semel/exit_code.hpp"

#include <string>
#include <vector>

namespace semel::app {

struct CanonArguments {
    bool fingerprint = false;
    std::string operation;           ///< Not empty: the fingerprint of a whole request, not of the document alone.
    std::vector<std::string> path;   ///< name=value
    std::vector<std::string> query;  ///< name=value
    std::string media_type = "application/json";
    bool json = false;
};

/// Reads a document from standard input and writes its canonical form, or its fingerprint, to standard output. The
/// canonical form is written as it is, byte for byte; a line break follows only where a person reads it. A document
/// that is refused is a finding.
[[nodiscard]] ExitCode canon(const CanonArguments& arguments);

}  // namespace semel::app
