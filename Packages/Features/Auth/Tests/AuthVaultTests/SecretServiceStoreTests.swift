import Capabilities
import Glibc
import Testing

@testable import AuthVault

@Suite(
    "Desktop keyring",
    .enabled(if: DesktopKeyring.isAvailable, "gnome-keyring, libsecret-1-0 or dbus is not installed"),
    .timeLimit(.minutes(5)))
struct SecretServiceStoreTests {
    @Test("Secrets are stored, found by another program, replaced and removed")
    func roundTrip() async throws {
        try await DesktopKeyring.run { keyring in
            await #expect(processExitsWith: .exitCode(42)) { [address = keyring.address as String] in
                let store = try #require(try await DesktopKeyring.connect(address))
                #expect(try await store.secret(named: "openai") == nil)
                try await store.store(Secret("one"), named: "openai")
                try await store.store(Secret("two \u{1F511}\n"), named: "openai")
                try await store.store(Secret("three"), named: "kamiwaza.pat")
                exit(try await store.secret(named: "openai")?.text == "two \u{1F511}\n" ? 42 : 1)
            }
            await #expect(processExitsWith: .exitCode(42)) { [address = keyring.address as String] in
                let store = try #require(try await DesktopKeyring.connect(address))
                let names = [SecretName("kamiwaza.pat"), "openai"]
                guard try await store.names() == names, store.source == .desktop else { exit(1) }
                guard try await store.secret(named: "kamiwaza.pat")?.text == "three" else { exit(2) }
                try await store.remove(named: "openai")
                try await store.remove(named: "openai")
                guard try await store.secret(named: "openai") == nil else { exit(3) }
                exit(try await store.names() == ["kamiwaza.pat"] ? 42 : 4)
            }
        }
    }

    @Test("Invalid names, zero bytes and oversized secrets are rejected")
    func refused() async throws {
        try await DesktopKeyring.run { keyring in
            await #expect(processExitsWith: .exitCode(42)) { [address = keyring.address as String] in
                let store = try #require(try await DesktopKeyring.connect(address))
                let large = String(repeating: "x", count: 65_537)
                let kinds = [
                    await reason { try await store.store(Secret("x"), named: "Bad") },
                    await reason { try await store.store(Secret("a\u{0}b"), named: "a") },
                    await reason { try await store.store(Secret(large), named: "a") },
                ]
                let names = try await store.names()
                exit(kinds == [.name, .desktop, .size] && names.isEmpty ? 42 : 1)
            }
        }
    }

    @Test("A locked keyring that stays locked is an error, not an empty keyring")
    func locked() async throws {
        try await DesktopKeyring.run { keyring in
            await #expect(processExitsWith: .exitCode(42)) { [address = keyring.address as String] in
                let store = try #require(try await DesktopKeyring.connect(address, patience: .seconds(10)))
                try await store.store(Secret("one"), named: "openai")
                try DesktopKeyring.lock(address)
                var texts: [String] = []
                func refusal(_ body: () async throws -> Void) async -> Bool {
                    do {
                        try await body()
                        return false
                    } catch {
                        texts.append("\(error)")
                        return [.locked, .desktop].contains((error as? VaultError)?.kind)
                    }
                }
                guard await refusal({ _ = try await store.secret(named: "openai") }) else { exit(1) }
                guard await refusal({ try await store.store(Secret("sk-new"), named: "openai") }) else { exit(2) }
                guard await refusal({ try await store.store(Secret("sk-new"), named: "other") }) else { exit(3) }
                guard await refusal({ try await store.remove(named: "openai") }) else { exit(4) }
                guard try await store.names() == ["openai"] else { exit(5) }
                exit(texts.contains { $0.contains("sk-new") } ? 6 : 42)
            }
        }
    }

    @Test("A keyring that does not respond fails after the limit, and at once when the task is cancelled")
    func silent() async throws {
        try await DesktopKeyring.run { keyring in
            await #expect(processExitsWith: .exitCode(42)) {
                [address = keyring.address as String, daemon = keyring.daemon as Int32] in
                let store = try #require(try await DesktopKeyring.connect(address, patience: .milliseconds(200)))
                try #require(kill(daemon, SIGSTOP) == 0)
                defer { kill(daemon, SIGCONT) }
                guard await reason({ _ = try await store.names() }) == .desktop else { exit(1) }
                let waiting = Task { try await store.names() }
                waiting.cancel()
                let result = await waiting.result
                if case .success = result { exit(2) }
                kill(daemon, SIGCONT)
                exit(42)
            }
        }
    }

    @Test("A bus without a keyring gives an error with a remedy")
    func noService() async throws {
        try await DesktopKeyring.run(withKeyring: false) { keyring in
            await #expect(processExitsWith: .exitCode(42)) { [address = keyring.address as String] in
                let refusal = await reason { _ = try await DesktopKeyring.connect(address) }
                exit(refusal == .desktop ? 42 : 1)
            }
        }
    }
}

@Suite("Desktop keyring without a desktop")
struct NoDesktopTests {
    @Test("Without a session bus there is no desktop keyring, and nothing is loaded")
    func noBus() async throws {
        #expect(try await SecretServiceStore.connect(environment: [:]) == nil)
        #expect(try await SecretServiceStore.connect(environment: ["DBUS_SESSION_BUS_ADDRESS": ""]) == nil)
    }
}
