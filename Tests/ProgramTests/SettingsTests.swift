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

    @Test(
        "that are wrong on the command line are refused by every command",
        arguments: ["--set chat.modell=x", "--set chat", "--profile nosuch", "--set chat.temperature=3"])
    func typed(words: String) async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell("$M config show \(words)", home: home)
            #expect(run.code == 2 && run.errors.contains("command line: "))
            if words.contains("modle") { #expect(run.errors.contains("did you mean 'chat.model'?")) }
        }
    }

    @Test("that a variable was surely meant for are named") func variable() async throws {
        try await withHome { home in
            let run = try await Program.martlet.run(
                ["config", "show"], home: home, adding: ["MARTLET_CHAT_MODLE": "x", "MARTLET_QUITE_ANOTHER": "x"])
            #expect(run.code == 0)
            #expect(run.errors.contains("MARTLET_CHAT_MODLE; did you mean MARTLET_CHAT_MODEL?"))
            #expect(!run.errors.contains("QUITE_ANOTHER"))
        }
    }

    @Test("of a number are kept within its limits, also negative ones") func range() async throws {
        try await withHome { home in
            for (value, code) in [("-0.1", Int32(2)), ("2.1", 2), ("0.7", 0)] {
                let run = try await Program.martlet.run(["config", "set", "chat.temperature", value], home: home)
                #expect(run.code == code, "\(value): \(run.errors)")
                if code == 2 { #expect(run.errors.contains("must be from 0.0 to 2.0")) }
            }
            for words in [
                ["--temperature", "3"], ["--temperature", "-1"], ["--max-tokens", "0"], ["--max-tokens", "-5"],
            ] {
                let run = try await Program.martlet.run(["ask", "hi"] + words, home: home)
                #expect(run.code == 2 && run.errors.contains("must be"), "\(words): \(run.errors)")
            }
        }
    }

    @Test("of features that are off are kept, and their commands say how to get them") func off() async throws {
        try await withHome { home in
            for words in [["chat.temperature", "1"], ["features.chat", "false"]] {
                #expect(try await Program.martlet.run(["config", "set"] + words, home: home).code == 0)
            }
            let run = try await Program.martlet.run(["ask", "hi"], home: home)
            #expect(run.code == 2)
            #expect(run.errors.contains("'ask' is a command of the feature chat, which is switched off"))
            #expect(run.errors.contains("martlet config set features.chat true"))
            #expect(try await !Program.martlet.run(["auth", "status"], home: home).errors.contains("chat"))
        }
    }

    @Test("explain themselves, and say when there are none") func explained() async throws {
        try await withHome { home in
            let none = try await Program.martlet.run(["config", "show", "--origin"], home: home)
            #expect(none.code == 0 && none.output == "" && none.errors.contains("--all shows"))
            let one = try await Program.martlet.run(["config", "show", "chat.model", "--json"], home: home)
            #expect(try one.output.json()[0]?["meaning"] == "The default model")
            #expect(try await Program.martlet.run(["config", "validate"], home: home).errors.contains("no problem"))
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

            try write("{lab", to: project)
            let broken = try await bench("config trust")
            #expect(broken.code != 0 && broken.errors.contains("config.json:1:"), "\(broken.errors)")
            #expect(!broken.errors.contains("unexpected error"))
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
