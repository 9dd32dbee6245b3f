// Runs a fuzzer without libFuzzer: its corpus, then so many changed copies of it, drawn from a fixed seed. What makes it
// stop is written to a file, so that `<program> FILE` shows it again.
//
//   <program> CORPUS_FOLDER CHANGES
//   <program> FILE
#include "semel/base/random.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string read_input(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// For the handler of signals, which can be given nothing.
const std::string* under_way = nullptr;
char last_words[4096] = "fuzz.finding";

void keep_finding(int signal) {
    const int file = ::open(last_words, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (under_way != nullptr) static_cast<void>(!::write(file, under_way->data(), under_way->size()));
    ::close(file);
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void try_input(const std::string& input) {
    under_way = &input;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

/// One small change: a byte, a piece removed or doubled, a piece of another input, or a cut.
std::string changed(std::string input, const std::vector<std::string>& all, semel::Random& random) {
    const std::size_t at = random.below(input.size() + 1);
    const std::size_t length = random.below(std::min<std::size_t>(input.size() - at, 16) + 1);
    switch (random.below(6)) {
        case 0: input.insert(at, 1, static_cast<char>(random.below(256))); break;
        case 1:
            if (at < input.size()) input[at] = static_cast<char>(random.below(256));
            break;
        case 2: input.erase(at, length); break;
        case 3: input.insert(at, input.substr(at, length)); break;
        case 4: {
            const std::string& other = all[random.below(all.size())];
            input.insert(at, other.substr(random.below(other.size() + 1), 1 + random.below(32)));
            break;
        }
        default: input.resize(at);
    }
    return input;
}

int run_file(const char* file) {
    try_input(read_input(file));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2) return run_file(argv[1]);
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s CORPUS_FOLDER CHANGES, or %s FILE\n", argv[0], argv[0]);
        return 2;
    }
    std::vector<std::string> inputs{""};
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) inputs.push_back(read_input(entry.path()));
    if (inputs.size() < 2) {
        std::fprintf(stderr, "%s: there is no corpus\n", argv[1]);
        return 2;
    }
    std::snprintf(last_words, sizeof last_words, "%s.finding", argv[0]);
    for (const int fatal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(fatal, keep_finding);
    for (const std::string& input : inputs) try_input(input);
    const std::size_t seeds = inputs.size();
    semel::SeededRandom random(1);
    const long changes = std::strtol(argv[2], nullptr, 10);
    for (long i = 0; i < changes; ++i) {
        std::string input = inputs[random.below(inputs.size())];
        for (std::uint64_t times = 1 + random.below(4); times > 0; --times)
            input = changed(std::move(input), inputs, random);
        if (input.size() > 1024) input.resize(1024);
        try_input(input);
        // Changes of changes reach further; a bounded pool keeps the run what it is.
        if (inputs.size() < seeds + 512)
            inputs.push_back(std::move(input));
        else
            inputs[seeds + random.below(512)] = std::move(input);
    }
    std::printf("%zu inputs of the corpus, %ld changes\n", seeds - 1, changes);
    return 0;
}
