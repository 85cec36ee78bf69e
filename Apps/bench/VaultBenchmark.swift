import AuthVault
import Capabilities
import Cryptography
import Glibc

/// Unlocking a vault with its passphrase and reading one secret, against the key derivation alone.
enum VaultBenchmark {
    private static let passphrase = "correct horse battery staple"
    private static let rounds = 7

    static func run() async throws -> [Figure] {
        let folder = "/tmp/martlet-bench-\(getpid()).vault"
        defer { for name in ["vault", "vault.lock", ""] { unsafe remove("\(folder)/\(name)") } }
        try await vault(in: folder).storeAll(
            (0..<100).map { (name: SecretName("server-\($0).token"), secret: Secret("secret number \($0)")) })
        let secret = SecretBytes(Secret(passphrase))
        let salt = try Random.bytes(32)
        let clock = ContinuousClock()
        var ours = Duration.seconds(1000)
        var theirs = Duration.seconds(1000)
        // Alternating, because a machine's speed drifts.
        for _ in 0..<rounds {
            ours = min(
                ours,
                try await clock.measure {
                    let found = try await vault(in: folder).secret(named: "server-50.token")
                    guard found?.equals(Secret("secret number 50")) == true else {
                        throw BenchmarkError("the vault gave another secret")
                    }
                })
            theirs = min(theirs, try clock.measure { _ = try Scrypt.standard.derive(from: secret, salt: salt) })
        }
        let open = vault(in: folder)
        try await open.unlock()
        let reads = 2000
        let reading = try await clock.measure {
            for _ in 0..<reads { _ = try await open.secret(named: "server-50.token") }
        }
        return [
            Figure("unlock and read / scrypt with the same parameters", ours / theirs, "ratio", .atMost(1.1)),
            Figure("unlock and read", ours / .milliseconds(1), "ms"),
            Figure("scrypt N=131072 r=8 p=1", theirs / .milliseconds(1), "ms"),
            Figure("read one of 100 secrets when open", reading / .microseconds(1) / Double(reads), "µs"),
        ]
    }

    /// A vault that is locked and finds no key in the kernel.
    private static func vault(in folder: String) -> Vault {
        let sources = PassphraseSources(environment: [PassphraseSources.variable: passphrase]) { _ in nil }
        var setup = VaultSetup(folder: folder, keyFile: "\(folder)/key", passphrase: sources) { _ in }
        setup.keepUnlocked = nil
        return Vault(setup)
    }
}
