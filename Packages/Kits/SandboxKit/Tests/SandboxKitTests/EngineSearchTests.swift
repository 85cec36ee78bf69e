import FileKit
import Glibc
import ProcessKit
import Testing

@testable import SandboxKit

@Suite("EngineSearch", .timeLimit(.minutes(10)))
struct EngineSearchTests {
    private static let none = Result<LandlockVersion, SandboxError>.failure(
        SandboxError(.unavailable, "the kernel has no Landlock (for a test)"))

    private func withProgram(_ script: String, _ body: (String) async throws -> Void) async throws {
        try await Place.run { place in
            let program = "\(place.folder)/bwrap"
            // Another process writes the file: a child of this one could inherit the descriptor, and a file that is
            // open for writing cannot be executed.
            var writer = Command(
                "sh", ["-c", "cat >\"$0\" && chmod 755 \"$0\"", program], environment: ["PATH": "/usr/bin:/bin"])
            writer.input = .bytes(Array("#!/bin/sh\n\(script)\n".utf8))
            let written = try await Launcher.standalone.run(writer, timeout: .seconds(300))
            try #require(written.status.isSuccess)
            try await body(program)
        }
    }

    @Test("The engine is bubblewrap if it works", .enabled(if: Way.hasBubblewrap))
    func bubblewrap() async throws {
        let found = try await EngineSearch().run(Launcher.standalone)
        #expect(found.engine == Way.bubblewrap.engine && found.causes.isEmpty)
        #expect(SandboxSupport(found.engine, nil).words == "bubblewrap")
        let engine = SandboxEngine(launcher: Launcher.standalone, variables: Place.variables)
        #expect(try await engine.support().kind == .bubblewrap)
    }

    // sandbox case 37
    @Test(
        "The engine is Landlock if bubblewrap is missing or cannot create namespaces, and the cause is kept",
        .enabled(if: Way.hasLandlock))
    func landlock() async throws {
        var search = EngineSearch()
        search.programs = ["/nonexistent/bwrap"]
        let missing = try await search.run(Launcher.standalone)
        #expect(missing.engine == Way.landlock?.engine && missing.causes == ["bubblewrap is not installed"])
        let words = SandboxSupport(missing.engine, missing.causes.first).words
        #expect(words.hasPrefix("Landlock (weaker: bubblewrap is not installed"), "\(words)")
        let old = SandboxSupport(.landlock(LandlockVersion(number: 2)), "x").words
        #expect(old.contains("signalling your other processes"))
        search.programs = ["/etc/passwd"]
        let useless = try await search.run(Launcher.standalone)
        #expect(useless.engine == Way.landlock?.engine)
        #expect(useless.causes.first?.contains("/etc/passwd: it is not an executable file") == true)
        try await withProgram("echo 'bwrap: No permissions to create new namespace' >&2; exit 1") { program in
            var search = EngineSearch()
            search.programs = [program]
            let found = try await search.run(Launcher.standalone)
            #expect(found.engine == Way.landlock?.engine)
            #expect(found.causes == ["bubblewrap does not work: bwrap: No permissions to create new namespace"])
        }
    }

    // sandbox case 37
    @Test("If no engine works, the error names both causes")
    func none() async throws {
        try await withProgram("echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1") { program in
            var search = EngineSearch()
            (search.programs, search.landlock) = ([program], Self.none)
            let error = await #expect(throws: SandboxError.self) { _ = try await search.run(Launcher.standalone) }
            #expect(
                error?.message
                    == "commands must run in a sandbox, which does not work here (bubblewrap does not work: bwrap:"
                    + " setting up uid map: Permission denied; the kernel has no Landlock (for a test)); \(SandboxError.mend)"
            )
            #expect(error?.kind == .unavailable)
        }
    }

    // sandbox case 37
    @Test("If bubblewrap hangs, no result is kept, so that the search is repeated")
    func hangs() async throws {
        try await withProgram("exec sleep 1000") { program in
            var search = EngineSearch()
            (search.programs, search.landlock, search.limit) = ([program], Self.none, .milliseconds(50))
            await #expect(throws: ProcessError.self) { _ = try await search.run(Launcher.standalone) }
        }
    }

    @Test(
        "A filter that the kernel rejects is a sandbox error, and the command does not run",
        .enabled(if: Way.hasLandlock))
    func refused() async throws {
        try await Place.run { place in
            let launcher = Launcher.standalone
            try place.write("in/f")
            let sandboxed = try await place.prepare(["touch", "in/ran"], by: Way.landlock?.engine, launcher: launcher)
            var command = sandboxed.command
            command.restriction?.filter = [0xFF, 0xFF, 0, 0, 0, 0, 0, 0]
            let error = await #expect(throws: ProcessError.self) {
                try await launcher.run(command, timeout: .seconds(60))
            }
            #expect(error?.kind == .notRestricted && !Files.exists("\(place.folder)/in/ran"))
            let name = error.flatMap { sandboxed.exitCode(ofUnstarted: $0) }
            #expect(name == nil)
        }
    }
}
