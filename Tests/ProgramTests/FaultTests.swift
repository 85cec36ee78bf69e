import FileKit
import Glibc
import JSON
import Testing

@Suite("With a broken surrounding the program", .timeLimit(.minutes(5)))
struct FaultTests {
    private static let file = ".config/martlet/config.json"

    @Test(
        "refuses ordinary commands with 2 and the place in the file",
        arguments: [
            ("{\n  features: {lab: 7},\n}", ":2:19: features.lab: "),
            ("{\"lab\": {\"dpeth\": 1}}", ":1:10: lab.dpeth: "),
            ("{\n\"lab\": ", ":2:8: "), ("nonsense", ":1:1: "), ("{lab: {depth: 'deep'}}", ":1:15: lab.depth: "),
        ])
    func invalid(text: String, place: String) async throws {
        try await withHome { home in
            try write(text, to: "\(home)/\(Self.file)")
            let run = try await Program.bench.run(["lab", "states"], home: home)
            #expect(run.code == 2)
            #expect(run.output == "")
            #expect(run.errors.contains("\(home)/\(Self.file)\(place)"), "\(run.errors)")
            let machine = try await Program.bench.run(["lab", "states", "--json"], home: home)
            #expect(machine.errors.lines.count == 1)
            #expect(try machine.errors.json()["error"]?["code"] == "settings.invalid")
            for words in [
                ["version"], ["help"], ["features"], ["config", "path"], ["config", "show"], ["completion", "bash"],
            ] {
                #expect(try await Program.bench.run(words, home: home).code == 0, "\(words)")
            }
            let doctor = try await Program.bench.run(["doctor", "--json"], home: home)
            #expect(doctor.code == 1)
            #expect(try doctor.output.json().array?.first?["state"] == "failed")
            #expect(try await Program.bench.run(["config", "validate"], home: home).code == 2)
        }
    }

    @Test("tells all that is wrong in the settings at once") func allProblems() async throws {
        try await withHome { home in
            try write("{lab: {dpeth: 1},\n nolab: {},\n features: {lab: 'x'}}", to: "\(home)/\(Self.file)")
            let run = try await Program.bench.run(["lab", "states", "--set", "lab.depth=x"], home: home)
            #expect(run.errors.lines.count == 4)
        }
    }

    @Test(
        "goes on without settings that cannot be there",
        arguments: ["unset HOME; $M version", "env -i $M version", "HOME=/dev/null/x $M version", "HOME= $M version"])
    func noHome(script: String) async throws {
        try await withHome { home in
            let run = try await Program.martlet.shell(script, home: home)
            #expect(run.code == 0)
            #expect(run.output.hasPrefix("name "))
        }
    }

    @Test("says what to do when it cannot write", arguments: ["HOME=/dev/null/x $M", "HOME=$HOME/file $M"])
    func readOnlyHome(program: String) async throws {
        try await withHome { home in
            try write("", to: "\(home)/file")
            let run = try await Program.bench.shell("\(program) config set lab.depth 4", home: home)
            #expect(run.code == 1)
            #expect(run.output == "")
            #expect(run.errors.hasPrefix("test-bench: cannot "))
            #expect(run.errors.contains("directory"))
            let doctor = try await Program.bench.shell("\(program) doctor", home: home)
            #expect(doctor.errors == "" && doctor.output.contains("host.folder.config"))
        }
    }

    @Test("survives settings that are no file", arguments: ["mkdir -p", "mkfifo"])
    func noFile(make: String) async throws {
        try await withHome { home in
            try Files.makeDirectories("\(home)/.config/martlet")
            let run = try await Program.bench.shell(
                "\(make) .config/martlet/config.json; $M lab states; echo $?; $M version --json; $M config set lab.depth 1; echo $?",
                home: home)
            #expect(run.output.lines.first == "2")
            #expect(run.output.lines.last == "1")
            #expect(run.output.contains("\"name\": \"test-bench\""))
            #expect(run.errors.contains("config.json"))
        }
    }
}
