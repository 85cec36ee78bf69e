import Capabilities
import FileKit
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import Testing

/// A feature that writes settings, like one that adds servers.
private struct WritingFeature: Feature {
    static let manifest = Manifest(
        id: "writing", summary: "Writes settings", version: "1.0", needs: [.one((any SettingsWriter).self)],
        settings: [Setting("mode", "How it writes", default: "plain").declaration])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("writing.write", "Write what is given", .writes, .argument("values", "Keys and values")) {
                context, values in
                let writer = try context.registry.one((any SettingsWriter).self)
                let values = try JSON(parsing: values).array ?? []
                return try await writer.change(
                    values.map { pair in
                        (
                            (pair[0]?.string ?? "").split(separator: ".").map(String.init),
                            pair[1] == .null ? nil : pair[1]
                        )
                    })
            })
    }
}

@Suite("UserSettingsWriter", .timeLimit(.minutes(5)))
struct UserSettingsWriterTests {
    private func write(_ bench: TestWorkbench, _ values: [(String, JSON?)]) async throws {
        let pairs = JSON.array(values.map { .array([.string($0.0), $0.1 ?? .null]) })
        let path = try await bench.perform("writing.write", ["values": .string(pairs.text())]).json
        #expect(path.string == bench.userFile)
    }

    @Test("Writing creates the file, and keeps the comments and the order of an existing one")
    func comments() async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            try await write(bench, [("sample.depth", 4)])
            #expect(try await bench.perform("config.get", ["key": "sample.depth"]).json == 4)
            let text = """
                // Mine.
                {
                    "sample": {
                        "depth": 3, // not deeper
                    },
                    /* last */ "writing": {"mode": "x"},
                }

                """
            try bench.write(text, to: bench.userFile)
            try await write(bench, [("sample.depth", 5)])
            #expect(try bench.read(bench.userFile) == text.replacing("3,", with: "5,"))
        }
    }

    @Test("Several changes are made in one step: set, replace and remove")
    func several() async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            try bench.write(
                "{sample: {depth: 1, words: ['a']}, profiles: {old: {server: 'https://o.example'}}}", to: bench.userFile
            )
            try await write(
                bench,
                [
                    ("sample.depth", 2), ("sample.words", nil), ("profiles.old", nil),
                    ("profiles.new.server", "https://n.example"), ("profile", "new"), ("sample.depth", 3),
                ])
            let settings = try JSON(parsing: Array(bench.read(bench.userFile).utf8), reading: .json5)
            #expect(settings["sample"] == ["depth": 3])
            #expect(settings["profiles"] == ["new": ["server": "https://n.example"]])
            #expect(settings["profile"] == "new")
            #expect(try bench.workbench.failure == nil)
        }
    }

    @Test("Removing values that do not exist changes nothing")
    func nothing() async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            let text = "{sample: {depth: 1}} // mine\n"
            try bench.write(text, to: bench.userFile)
            try await write(bench, [("sample.words", nil), ("profiles.none.server", nil)])
            #expect(try bench.read(bench.userFile) == text)
        }
    }

    @Test("Concurrent writes are all kept")
    func concurrent() async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            try bench.write("// Mine.\n{}\n", to: bench.userFile)
            let bench = bench
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        try await write(
                            bench,
                            [
                                ("profiles.p\(number).server", .string("https://s\(number).example")),
                                ("profiles.p\(number).sample.depth", .int(number)),
                            ])
                    }
                }
                try await group.waitForAll()
            }
            let text = try bench.read(bench.userFile)
            let profiles = try JSON(parsing: Array(text.utf8), reading: .json5)["profiles"]?.object
            #expect(profiles?.count == 12 && text.hasPrefix("// Mine.\n"))
            for number in 0..<12 { #expect(profiles?["p\(number)"]?["sample"]?["depth"] == .int(number)) }
        }
    }

    @Test(
        "Writing to a damaged file is refused and leaves it unchanged",
        arguments: ["{", "{a: 1 b}", "[]", "{'a': 1, 'a': 2}"])
    func damaged(text: String) async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            let healthy = try bench.workbench
            try bench.write(text, to: bench.userFile)
            let problem = await failure {
                let writer = try healthy.registry.one((any SettingsWriter).self)
                try await writer.change([(key: ["sample", "depth"], value: 5)])
            }
            #expect(problem?.message.contains(bench.userFile) == true && problem?.code == "host.file")
            #expect(problem?.message.contains("nothing was changed") == true)
            #expect(try bench.read(bench.userFile) == text)
            // The lock is free again: once the file is repaired, the next change succeeds.
            try bench.write("{}", to: bench.userFile)
            try await write(bench, [("sample.depth", 6)])
            #expect(try await bench.perform("config.get", ["key": "sample.depth"]).json == 6)
        }
    }

    @Test("If one change cannot be made, none is")
    func allOrNothing() async throws {
        try await withBench(WritingFeature.self, SampleFeature.self) { bench in
            let text = "{sample: {depth: 1}, writing: 'no object'}"
            try bench.write("{sample: {depth: 1}}", to: bench.userFile)
            let healthy = try bench.workbench
            try bench.write(text, to: bench.userFile)
            let problem = await failure {
                let writer = try healthy.registry.one((any SettingsWriter).self)
                try await writer.change([
                    (key: ["sample", "depth"], value: 5), (key: ["writing", "mode"], value: "x"),
                ])
            }
            #expect(problem != nil)
            #expect(try bench.read(bench.userFile) == text)
        }
    }
}
