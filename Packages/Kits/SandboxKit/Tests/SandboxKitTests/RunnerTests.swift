import Capabilities
import CoreTesting
import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("CommandRunner", .timeLimit(.minutes(10)), .enabled(if: Way.hasBubblewrap))
struct RunnerTests {
    static let ways: [Way?] = [nil] + Way.engines

    /// - Parameter way: nil for no sandbox.
    private func run(_ words: [String], in place: Place, _ way: Way?) async throws -> CommandResult {
        let folder = try Folder(beneath: place.folder)
        return try await CommandRunner(
            variables: Place.variables, sandbox: way.map { _ in Sandbox() }, by: way?.engine, launcher: .standalone
        )
        .run(words, in: folder, of: folder) { _ in }
    }

    @Test("Standard error is part of the output, in order", arguments: ways)
    func joined(way: Way?) async throws {
        try await Place.run { place in
            let result = try await run(["sh", "-c", "echo a; echo b >&2; echo c; exit 3"], in: place, way)
            #expect(result.output.text == "a\nb\nc\n" && result.status == .exited(3))
        }
    }

    @Test(
        "A command continues the trace within the span of its process, and learns nothing else of it", arguments: ways)
    func traced(way: Way?) async throws {
        try await Place.run { place in
            let sink = RecordingSpanSink()
            let outer = TraceContext(
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                tracestate: "vendor=what-it-likes")
            let result = try await TraceContext.$current.withValue(outer) {
                try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                    try await run(["env"], in: place, way)
                }
            }
            let span = try #require(sink.spans.first { $0.name == "env" })
            let lines = result.output.text.split(separator: "\n")
            #expect(lines.contains("TRACEPARENT=\(span.context.traceparent)"), "\(lines)")
            // What others have added is for programs that have the rights of the user in any case.
            #expect(lines.contains("TRACESTATE=vendor=what-it-likes") == (way == nil))
            #expect(span.context.trace == outer?.trace && sink.spans.map(\.name) == ["env", "work"])
            let untraced = try await run(["env"], in: place, way)
            #expect(!untraced.output.text.contains("TRACE"))
        }
    }

    @Test("A command leaves no core dump", arguments: ways)
    func noCore(way: Way?) async throws {
        try await Place.run { place in
            let result = try await run(["sh", "-c", "ulimit -S -c; ulimit -H -c"], in: place, way)
            #expect(result.output.text == "0\n0\n")
        }
    }

    // sandbox case 46, for the file: the kernel runs a core dump handler of the machine whatever the limit is.
    @Test("A crashed command leaves no core file", arguments: ways)
    func crash(way: Way?) async throws {
        let crash = "cd in; ulimit -c unlimited; bash -c 'kill -SEGV $$'; echo ended $?"
        try await Place.run { place in
            try place.write("in/f")
            let result = try await run(["bash", "-c", crash], in: place, way)
            #expect(result.output.text.hasSuffix("ended 139\n"), "\(result.output.text)")
            #expect(try Files.list("\(place.folder)/in").map(\.name) == ["f"])
            let pattern = String(decoding: try Files.read("/proc/sys/kernel/core_pattern", limit: 1000), as: UTF8.self)
            // The control, if this machine writes core files next to the program and allows them for this process.
            guard !pattern.hasPrefix("|"), !pattern.hasPrefix("/"),
                try await place.shell("ulimit -H -c") == "unlimited\n"
            else { return }
            _ = try await place.shell(crash)
            #expect(try Files.list("\(place.folder)/in").count == 2)
        }
    }

    @Test(
        "A missing or non-executable program gives the exit code of a shell",
        arguments: Way.engines)
    func unstarted(way: Way) async throws {
        try await Place.run { place in
            try place.write("text", "no program")
            for (program, code) in [("no-such-program", Int32(127)), ("./text", 126), ("./text/x", 126)] {
                let result = try await run([program], in: place, way)
                #expect(result.status == .exited(code), "\(program)")
                #expect(result.output.text.contains(program))
            }
        }
    }

    @Test(
        "A failed command and a failed sandbox are told apart, whatever the command prints",
        arguments: Way.engines)
    func failed(way: Way) async throws {
        try await Place.run { place in
            for words in ["bwrap: no", "bwrap: execvp x: No such file or directory"] {
                let result = try await run(["sh", "-c", "echo '\(words)' >&2; exit 1"], in: place, way)
                #expect(result.status == .exited(1) && result.output.text == "\(words)\n")
            }
            // The folder is not in the view, so the command cannot start there.
            let (folder, outside) = (try Folder(beneath: place.folder), try Folder(beneath: "\(place.base)/outside"))
            let error = await #expect(throws: SandboxError.self) {
                try await CommandRunner(
                    variables: Place.variables, sandbox: Sandbox(), by: way.engine, launcher: .standalone
                )
                .run(["true"], in: outside, of: folder) { _ in }
            }
            #expect(error?.kind == .unavailable && error?.message.contains("\(place.base)/outside") == true)
        }
    }

    @Test(
        "A command cannot write its own status, and has no descriptors of the sandbox open",
        arguments: Way.engines)
    func told(way: Way) async throws {
        try await Place.run { place in
            let result = try await run(
                ["sh", "-c", "ls -l /proc/self/fd /proc/1/fd 2>/dev/null | grep -c memfd; echo done"], in: place,
                way)
            #expect(result.output.text == "0\ndone\n")
            #expect(try place.names() == [])
            #expect(!Self.hasOpen(beneath: place.folder))
        }
    }

    private static func hasOpen(beneath path: String) -> Bool {
        (0..<1024).contains { number in
            var target = [CChar](repeating: 0, count: 4096)
            guard unsafe readlink("/proc/self/fd/\(number)", &target, target.count - 1) > 0 else { return false }
            return String(decoding: target.map(UInt8.init(bitPattern:)), as: UTF8.self).hasPrefix("\(path)/")
        }
    }
}
