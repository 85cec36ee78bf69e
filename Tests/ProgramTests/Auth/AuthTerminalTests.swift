import HTTPCore
import KamiwazaTesting
import Testing

@Suite("Auth on a terminal", .timeLimit(.minutes(5)))
struct AuthTerminalTests {
    @Test("The password is not shown, and the user decides whether to stay signed in")
    func password() async throws {
        try await AuthHome.with({ $0.providers = [] }) { home in
            _ = try await home.martlet("auth server add lab \(home.server.origin)")
            try await Conversation.with(
                .martlet, "$M auth login lab; echo code $?", home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "User name")
                try await talk.press("ada\n")
                try await talk.wait(for: "Password")
                try await talk.press("wrong horse\n")
                try await talk.wait(for: "the user name or password is wrong")
                try await talk.wait(for: "[ada]")
                try await talk.press("\n")
                try await talk.wait(for: "Password")
                try await talk.press("\(AuthHome.password)\n")
                try await talk.wait(for: "Stay signed in on this device")
                try await talk.wait(for: "[y/N]")
                try await talk.press("y\n")
                try await talk.wait(for: "New passphrase for the vault with your keys")
                try await talk.press("\n")
                try await talk.wait(for: "code 0")
                #expect(!talk.shown.contains("horse") && !talk.shown.contains("wörd"))
            }
            #expect(home.server.count(.post, "/api/auth/pats") == 1)
        }
    }

    @Test("Secrets and passphrases are not shown")
    func secret() async throws {
        try await AuthHome.with { home in
            try await Conversation.with(
                .martlet, "$M auth secret set openai; echo code $?; $M auth secret get openai; echo end $?",
                home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "The secret (openai)")
                try await talk.press("kept-secret\n")
                try await talk.wait(for: "New passphrase for the vault with your keys")
                try await talk.press("correct horse battery\n")
                try await talk.wait(for: "The new passphrase again")
                try await talk.press("correct horse battery\n")
                try await talk.wait(for: "code 0")
                #expect(!talk.shown.contains("kept-secret"))
                try await talk.wait(for: "Passphrase of the vault")
                try await talk.press("correct horse battery\n")
                try await talk.wait(for: "end 0")
                #expect(talk.shown.contains("kept-secret") && !talk.shown.contains("horse"))
            }
        }
    }

    @Test("A certificate is shown before it is trusted", arguments: [("y", "code 0"), ("n", "code 3"), ("", "code 3")])
    func certificate(answer: String, code: String) async throws {
        try await AuthHome.with(AuthHome.selfSigned) { home in
            let server = home.server
            try await Conversation.with(
                .martlet, "$M auth server add lab \(server.origin); echo code $?; $M auth trust list; echo end",
                home: home.path, adding: home.variables
            ) { talk in
                try await talk.wait(for: "Trust this certificate for 127.0.0.1:")
                try await talk.wait(for: "[y/N]")
                for fact in ["is not trusted: it is self-signed", "subject", "issuer", "names", "valid", "SHA-256"] {
                    #expect(talk.shown.contains(fact), "\(fact)")
                }
                #expect(server.requests.isEmpty)
                try await talk.press("\(answer)\n")
                try await talk.wait(for: code)
                try await talk.wait(for: "end\r\n")
            }
            #expect(server.requests.isEmpty == (answer != "y"))
            let pins = try await home.martlet("auth trust list --format csv").output
            #expect(pins.contains("asked") == (answer == "y"))
        }
    }
}
