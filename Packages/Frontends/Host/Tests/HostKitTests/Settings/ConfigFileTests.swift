import Capabilities
import CoreTesting
import FileKit
import Glibc
import HostKit
import HostTesting
import JSON
import Testing

@Suite("Changing settings")
struct ConfigFileTests {
    private static let text = """
        // Mine.
        {
            "features": {},  // all of them
            /* deep */ sample: {
                "depth": 3, // not deeper
            },
        }

        """

    @Test("A change keeps comments, order and everything else") func keeps() async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write(Self.text, to: bench.userFile)
            try await bench.perform("config.set", ["key": "sample.depth", "value": "4"])
            #expect(try bench.read(bench.userFile) == Self.text.replacing("3", with: "4"))
            try await bench.perform("config.set", ["key": "sample.words", "value": "a,b"])
            let text = try bench.read(bench.userFile)
            for comment in ["// Mine.", "// all of them", "/* deep */", "// not deeper"] {
                #expect(text.contains(comment))
            }
            #expect(try await bench.perform("config.get", ["key": "sample.words"]).json == ["a", "b"])
            try await bench.perform("config.unset", ["key": "sample.depth"])
            #expect(try await bench.perform("config.get", ["key": "sample.depth"]).json == 3)
            #expect(try bench.read(bench.userFile).contains("// Mine."))
        }
    }

    @Test("A change creates the file and its folders") func makes() async throws {
        try await withBench(SampleFeature.self) { bench in
            let row = try await bench.perform("config.set", ["key": "sample.depth", "value": "5"]).json
            #expect(row["file"]?.string == bench.userFile)
            #expect(try await bench.perform("config.get", ["key": "sample.depth"]).json == 5)
        }
    }

    @Test(
        "A change of a broken file is refused and changes nothing",
        arguments: ["{", "nonsense", "{\"a\":1,\"a\":2}", "[]"])
    func refused(text: String) async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write(text, to: bench.userFile)
            let problem = await failure {
                try await bench.perform("config.set", ["key": "sample.depth", "value": "5"])
            }
            #expect(problem?.message.contains(bench.userFile) == true)
            #expect(try bench.read(bench.userFile) == text)
        }
    }

    @Test(
        "A change to an unknown setting or an invalid value is refused",
        arguments: [
            ("sample.dpeth", "1", "settings.unknown", "depth"),
            ("sample.depth", "deep", "settings.invalid", "whole number"),
            ("", "1", "settings.unknown", ""), ("sample", "{}", "settings.unknown", ""),
            ("sample..depth", "1", "settings.unknown", ""),
        ])
    func wrong(key: String, value: String, code: String, hint: String) async throws {
        try await withBench(SampleFeature.self) { bench in
            let problem = await failure {
                try await bench.perform("config.set", ["key": .string(key), "value": .string(value)])
            }
            #expect(problem?.code == code)
            #expect(problem?.exit == .usage)
            #expect(hint.isEmpty || problem?.message.contains(hint) == true)
            #expect(!Files.exists(bench.userFile))
        }
    }

    @Test("Concurrent changes are all kept") func concurrent() async throws {
        try await withBench(SampleFeature.self) { bench in
            let bench = bench
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await bench.perform(
                            "config.set",
                            [
                                "key": .string("profiles.p\(number).server"),
                                "value": .string("https://s\(number).example"),
                            ])
                    }
                }
                try await group.waitForAll()
            }
            let settings = try JSON(parsing: Array(bench.read(bench.userFile).utf8), reading: .json5)
            #expect(settings["profiles"]?.object?.count == 20)
        }
    }

    @Test(
        "A change waits while another command changes settings",
        arguments: [
            ("config.set", ["key": "sample.depth", "value": "4"]),
            ("config.set", ["key": "sample.depth", "value": "4", "project": true]),
            ("config.unset", ["key": "sample.depth"]),
        ] as [(String, JSONObject)])
    func waits(action: String, arguments: JSONObject) async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write("{sample: {depth: 2}}", to: bench.userFile)
            let lock = try await FileLock.acquire(bench.userFile + ".lock", within: .seconds(30))
            // The project is the folder of this process: if anything were written there, other tests would find it.
            let project = "\(try Files.canonical("."))/.martlet"
            let wasThere = Files.exists(project)
            defer { if !wasThere { unsafe system("rm -rf '\(project)'") } }
            let held = await failure { try await bench.perform(action, arguments, limit: .milliseconds(200)) }
            #expect(held?.code == "host.timed-out")
            #expect(try bench.read(bench.userFile) == "{sample: {depth: 2}}")
            #expect(Files.exists(project) == wasThere)
            lock.release()
        }
    }

    @Test("Removing an unset value says so, and removing an unknown setting is refused")
    func unsetAbsent() async throws {
        try await withBench(SampleFeature.self) { bench in
            let row = try await bench.perform("config.unset", ["key": "sample.depth"]).json
            #expect(row["key"] == "sample.depth" && !Files.exists(bench.userFile))
            #expect(bench.output.notices == ["sample.depth was not set in \(bench.userFile), so nothing was changed"])
            let problem = await failure { try await bench.perform("config.unset", ["key": "sample.dpeth"]) }
            #expect(problem?.code == "settings.unknown" && problem?.exit == .usage)
            #expect(problem?.message.contains("nothing with that name is set in") == true)
            #expect(problem?.message.contains("did you mean 'sample.depth'?") == true)
        }
    }

    @Test("A key that no build knows any more can be removed") func unsetUnknown() async throws {
        try await withBench(SampleFeature.self) { bench in
            try bench.write("{gone: {key: 1}, sample: {depth: 2}}", to: bench.userFile)
            #expect(try bench.workbench.failure != nil)
            try await bench.perform("config.unset", ["key": "gone"])
            #expect(try bench.workbench.failure == nil)
            #expect(try await bench.perform("config.get", ["key": "sample.depth"]).json == 2)
        }
    }
}
