import JSON
import Testing

@Suite("Passphrase without a terminal", .timeLimit(.minutes(5)))
struct AuthPassphraseTests {
    @Test("A descriptor or a variable provides the passphrase, and nothing else does")
    func sources() async throws {
        try await AuthHome.with { home in
            let right = ["MARTLET_PASSPHRASE": "correct horse battery"]
            let set = try await home.martlet(
                "auth secret set openai --value-stdin", input: "kept-secret", adding: right)
            #expect(set.code == 0 && !set.errors.contains("key file"), "\(set.errors)")
            #expect(try await home.martlet("auth secret get openai", adding: right).output == "kept-secret\n")
            for (script, code) in [
                ("printf 'correct horse battery\\n' >pass; $M auth secret get openai --passphrase-fd 7 7<pass", 0),
                ("printf 'correct horse battery' | $M auth secret get openai --passphrase-fd=0", 0),
                ("printf 'wrong horse battery' | $M auth secret get openai --passphrase-fd=0", 3),
                ("MARTLET_PASSPHRASE='wrong horse battery' $M auth secret get openai", 3),
                ("$M auth secret get openai", 6), ("$M auth secret get openai --passphrase-fd=99", nil),
                ("$M auth secret get openai --passphrase-fd=99999999999", 2),
                ("$M auth secret get openai --passphrase-fd=0 </dev/null", 2),
                ("MARTLET_PASSPHRASE= $M auth secret get openai", 6),
                ("printf x | $M auth secret set other --value-stdin", 6),
            ] as [(String, Int32?)] {
                let run = try await home.shell(script)
                if let code { #expect(run.code == code, "\(script): \(run.errors)") } else { #expect(run.code != 0) }
                #expect(run.output == (code == 0 ? "kept-secret\n" : ""), "\(script)")
                #expect(!run.errors.contains("horse"))
            }
            #expect(try await home.martlet("auth secret list --json", adding: right).output.json().array?.count == 1)
        }
    }

    @Test("The passphrase is not a setting that could be shown")
    func noSetting() async throws {
        try await AuthHome.with { home in
            let right = ["MARTLET_PASSPHRASE": "correct horse battery"]
            for words in ["config show --all --origin", "config validate", "doctor", "features"] {
                let run = try await home.martlet(words, adding: right)
                #expect(!run.output.contains("horse") && !run.errors.contains("PASSPHRASE"), "\(words)")
            }
        }
    }
}
