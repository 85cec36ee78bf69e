import Glibc
import Testing

@testable import CommandLineFrontend

@Suite("StandardStreams")
struct StandardStreamsTests {
    @Test("Output is written in any number of pieces, none of which costs more than the first") func many() throws {
        let sink = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        try #require(sink >= 0)
        defer { close(sink) }
        let streams = StandardStreams(output: sink, errors: sink)
        streams.wait { _ in true }
        // If a closure grew with each write, this would take minutes and overflow the stack.
        for _ in 0..<200_000 { try streams.write("x") }
        try streams.requireWhole()
    }
}
