import FileKit
import JSON
import Testing

@Suite("Settings", .timeLimit(.minutes(5)))
struct SettingsTests {
    /// A value and where it comes from, as `config show` tells it.
    private func shown(
        _ key: String, home: String, in folder: String = ".", adding variables: [String: String] = [:],
        words: String = ""
    ) async throws -> [JSON?] {
        let run = try await Program.bench.shell(
            "cd \(folder) && $M config show \(key) --origin --all --json \(words)", home: home, adding: variables)
        let row = try run.output.json()[0]
        return [row?["value"], row?["origin"]]
    }

    @Test("come from the strongest of their layers, each stronger than the last") func layers() async throws {
        try await withHome { home in
            let system = "\(home)/etc/martlet/config.json"
            let user = "\(home)/.config/martlet/config.json"
            let project = "\(home)/work/.martlet/config.json"
            var variables = ["XDG_CONFIG_DIRS": "\(home)/etc:\(home)/etc2"]
            func value(_ words: String = "") async throws -> [JSON?] {
                try await shown("lab.depth", home: home, in: "work/deep/er", adding: variables, words: words)
            }
            try Files.makeDirectories("\(home)/work/deep/er")
            #expect(try await value() == [3, "built in"])
            try write("{lab: {depth: 9}}", to: "\(home)/etc2/martlet/config.json")
            try write("{lab: {depth: 10}}", to: system)
            #expect(try await value() == [10, .string(system)])
            try write("{lab: {depth: 11}}", to: user)
            #expect(try await value() == [11, .string(user)])
            try write("{lab: {depth: 12}}", to: project)
            #expect(try await value() == [12, .string(project)])
            variables["MARTLET_LAB_DEPTH"] = "13"
            #expect(try await value() == [13, "$MARTLET_LAB_DEPTH"])
            #expect(try await value("--set lab.depth=14") == [14, "command line"])
        }
    }

    @Test("of the home folder are no project's") func homeIsNoProject() async throws {
        try await withHome { home in
            try write("{lab: {depth: 12}}", to: "\(home)/.martlet/config.json")
            try Files.makeDirectories("\(home)/deep")
            #expect(try await shown("lab.depth", home: home) == [3, "built in"])
            #expect(try await shown("lab.depth", home: home, in: "deep") == [3, "built in"])
        }
    }

    @Test("that run something count only while that very content is trusted") func trust() async throws {
        try await withHome { home in
            let project = "\(home)/work/.martlet/config.json"
            func value() async throws -> JSON? { try await shown("lab.program", home: home, in: "work").first ?? nil }
            func bench(_ words: String) async throws -> Program.Run {
                try await Program.bench.shell("cd work && $M \(words)", home: home)
            }
            try write("{lab: {program: 'sl', depth: 4}}", to: project)
            #expect(try await value() == "true")
            #expect(try await shown("lab.depth", home: home, in: "work") == [4, .string(project)])
            let told = try await bench("lab states")
            #expect(told.code == 0)
            #expect(told.errors.contains("is not trusted, so one of its settings is not used"))

            #expect(try await bench("config trust .").code == 0)
            #expect(try await value() == "sl")
            #expect(try await bench("lab states").errors.contains("trusted") == false)

            try write("{lab: {program: 'sl', depth: 5}}", to: project)
            #expect(try await value() == "sl")
            try write("{lab: {program: 'rm', depth: 5}}", to: project)
            #expect(try await value() == "true")
            let again = try await bench("config trust")
            #expect(again.errors.contains("changed: lab.program = \"rm\"") || again.errors.contains("changed: lab = "))
            #expect(try await value() == "rm")

            #expect(try await bench("config untrust").code == 0)
            #expect(try await value() == "true")
            #expect(try await bench("config untrust").code == 2)
        }
    }

    @Test("trust nobody while the list of the trusted is damaged", arguments: ["{", "[]", "{\"a\":1,\"a\":2}"])
    func damagedTrust(text: String) async throws {
        try await withHome { home in
            try write("{lab: {program: 'sl'}}", to: "\(home)/work/.martlet/config.json")
            try write(text, to: "\(home)/.local/state/martlet/trusted.json")
            #expect(try await shown("lab.program", home: home, in: "work").first == "true")
            let run = try await Program.bench.shell("cd work && $M config trust", home: home)
            #expect(run.code == 1)
            #expect(run.errors.contains("trusted.json"))
        }
    }

    @Test("are trusted by many at once without one being lost") func manyWriters() async throws {
        try await withHome { home in
            for number in 1...8 {
                try write("{lab: {program: 'p\(number)'}}", to: "\(home)/w\(number)/.martlet/config.json")
            }
            let run = try await Program.bench.shell(
                "for n in 1 2 3 4 5 6 7 8; do { $M config trust w$n >/dev/null 2>err$n; echo $n $?; } & done; wait",
                home: home)
            for line in run.output.lines {
                let words = line.split(separator: " ")
                #expect(words[1] == "0")
                let value = try await shown("lab.program", home: home, in: "w\(words[0])").first ?? nil
                #expect(value == .string("p\(words[0])"))
            }
            #expect(run.output.lines.count == 8)
        }
    }
}
