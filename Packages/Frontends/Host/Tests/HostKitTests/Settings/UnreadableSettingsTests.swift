import Capabilities
import Glibc
import HostKit
import HostTesting
import JSON
import Settings
import Testing

@Suite("Settings file", .timeLimit(.minutes(5)))
struct UnreadableSettingsTests {
    @Test(
        "An unreadable settings file is a named problem, and does not stop commands that fix it",
        arguments: [
            ([UInt8]("{\"a\": \"\u{0}".utf8), ":1:"), ([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], ":1:"),
            (Array(repeating: UInt8(ascii: " "), count: (4 << 20) + 1), "config.json"),
            (Array("[1]".utf8), "config.json"), (Array(repeating: UInt8(ascii: "["), count: 1 << 20), ":1:"),
        ])
    func broken(text: [UInt8], place: String) async throws {
        try await withBench { bench in
            try bench.write(text, to: bench.userFile)
            let problem = try #require(bench.workbench.failure as? SettingsFailure).problems.first?.description ?? ""
            #expect(problem.hasPrefix(bench.userFile))
            #expect(problem.contains(place))
            #expect(problem.utf8.count < 500)
            let refused = await failure { _ = try await bench.perform("data.list") }
            #expect(refused?.code == "settings.invalid")
            #expect(refused?.exit == .usage)
            _ = try await bench.perform("version")
            _ = try await bench.perform("config.show")
        }
    }

    @Test("A folder or a pipe in place of a settings file is refused without waiting", arguments: ["mkdir", "mkfifo"])
    func noFile(make: String) async throws {
        try await withBench { bench in
            try bench.write("", to: bench.userFile)
            let status = unsafe system("rm \(bench.userFile) && \(make) \(bench.userFile)")
            try #require(status == 0)
            let problems = try #require(bench.workbench.failure as? SettingsFailure).problems
            #expect(problems.count == 1)
            #expect(problems.first?.description.contains(bench.userFile) == true)
        }
    }

    @Test("A settings file may have a line of a megabyte") func longLine() async throws {
        try await withBench { bench in
            let comment = String(repeating: "x", count: 1 << 20)
            try bench.write("{/*\(comment)*/ \"profile\": \"work\", profiles: {work: {}}}", to: bench.userFile)
            #expect(try bench.workbench.failure == nil)
        }
    }

    @Test(
        "A settings file may begin with a byte order mark, or contain no settings",
        arguments: ["\u{FEFF}{}", "{}", "// nothing\n{}\n"])
    func harmless(text: String) async throws {
        try await withBench { bench in
            try bench.write(text, to: bench.userFile)
            #expect(try bench.workbench.failure == nil)
        }
    }

    @Test("The settings file moves with MARTLET_HOME") func moved() async throws {
        try await withBench(SampleFeature.self) { bench in
            bench.environment["MARTLET_HOME"] = bench.home + "/ours"
            try await bench.perform("config.set", ["key": "sample.depth", "value": "4"])
            #expect(try bench.read(bench.home + "/ours/config/config.json").contains("4"))
        }
    }

    @Test("Without a home folder, no settings file is needed") func noHome() async throws {
        try await withBench { bench in
            bench.environment["HOME"] = ""
            _ = try await bench.perform("version")
            _ = try await bench.perform("doctor")
        }
    }
}
