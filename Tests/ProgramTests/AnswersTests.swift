import JSON
import Testing

@Suite("Without a person the program", .timeLimit(.minutes(5)))
struct AnswersTests {
    private static let secret = "correct-horse-battery"

    @Test(
        "destroys only what was agreed to",
        arguments: [
            (["lab", "wipe"], 6, ""), (["lab", "wipe", "--no-input"], 6, ""), (["lab", "wipe", "--yes"], 0, "wiped\n"),
            (["-y", "lab", "wipe", "--no-input"], 0, "wiped\n"),
            (["lab", "wipe", "--answers", "yes.json"], 0, "wiped\n"),
            (["lab", "wipe", "--answers", "no.json"], 1, ""), (["lab", "wipe", "--answers", "unfit.json"], 2, ""),
            (["lab", "wipe", "--answers", "list.json"], 2, ""), (["lab", "wipe", "--answers", "absent.json"], 2, ""),
        ] as [([String], Int32, String)])
    func destroys(words: [String], code: Int32, output: String) async throws {
        try await withHome { home in
            try write("{'confirm.lab.wipe': true}", to: "\(home)/yes.json")
            try write("{\"confirm.lab.wipe\": false}", to: "\(home)/no.json")
            try write("{\"confirm.lab.wipe\": \"maybe\"}", to: "\(home)/unfit.json")
            try write("[]", to: "\(home)/list.json")
            let run = try await Program.bench.run(words, home: home)
            #expect(run.code == code)
            #expect(run.output == output)
            #expect(run.errors.contains("test-bench: ") == (code != 0))
        }
    }

    @Test("answers a question from the file, and names the question when it cannot") func asks() async throws {
        try await withHome { home in
            try write("{\"lab.name\": \"Ada\"}", to: "\(home)/answers.json")
            let run = try await Program.bench.run(["lab", "ask", "--answers", "answers.json"], home: home)
            #expect(run.output == "hello Ada\n")
            let unanswered = try await Program.bench.run(["lab", "ask"], home: home, input: "Ada\n")
            #expect(unanswered.code == 6)
            #expect(unanswered.errors.contains("'lab.name'"))
        }
    }

    @Test(
        "takes a secret from where the words say, and shows it nowhere",
        arguments: [
            ("printf '%s\\n' \"$KEY\" | $M lab login --token-stdin", 0),
            ("printf %s \"$KEY\" | $M lab login --token-stdin --verbose", 0),
            ("$M lab login --token-env KEY", 0), ("$M lab login --token-env KEY --format ndjson", 0),
            ("printf %s \"$KEY\" >key; $M lab login --token-fd 7 7<key --json", 0),
            ("$M lab login --token \"$KEY\"", 2), ("$M lab login --token=$KEY", 2),
            ("$M lab login --token=$KEY --json", 2),
            ("$M lab login --token-env KEY more", 2), ("$M lab login", 6), ("$M lab login --token-env NOKEY", 2),
            ("$M lab login --token-fd 99", 2), ("$M lab login --token-stdin </dev/null", 2),
            ("head -c 70000 /dev/zero | $M lab login --token-stdin", 2),
            ("printf '\\377' | $M lab login --token-stdin", 2),
        ] as [(String, Int32)])
    func secrets(script: String, code: Int32) async throws {
        try await withHome { home in
            let run = try await Program.bench.shell(script, home: home, adding: ["KEY": Self.secret])
            #expect(run.code == code, "\(run.errors)")
            #expect(!run.output.contains(Self.secret) && !run.errors.contains(Self.secret))
            if code == 0 {
                #expect(run.output.contains("‹redacted› has \(Self.secret.count) characters"))
                #expect(run.errors.contains("logging in with ‹redacted›"))
            }
        }
    }
}
