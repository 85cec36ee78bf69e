import Capabilities
import HostKit
import HostTesting
import Registry
import Testing

@Suite("Secrets in the environment")
struct EnvironmentSecretTests {
    @Test("Values of variables with secret-like names are redacted everywhere")
    func learnt() async throws {
        try await withBench { bench in
            bench.environment.merge([
                "LAB_TOKEN": "oak tree+birch", "db_password": "eightsig", "PASSWORD": "alone-and-long",
                "MARTLET_UNUSED_API_KEY": "never-used-by-anybody",
            ]) { $1 }
            let redactor = try bench.workbench.host.redactor
            #expect(redactor.kept("is oak tree+birch!") == "is ‹redacted:LAB_TOKEN›!")
            #expect(redactor.kept("is oak%20tree%2Bbirch!") == "is ‹redacted:LAB_TOKEN›!")
            #expect(redactor.kept("eightsig") == "‹redacted:db_password›")
            #expect(redactor.redact("alone-and-long never-used-by-anybody").contains("-") == false)
        }
    }

    @Test("Short values, names of files, and values of other variables are not redacted")
    func harmless() async throws {
        try await withBench { bench in
            let file = "\(bench.home)/key.json"
            try bench.write("{}", to: file)
            bench.environment.merge([
                "USE_TOKEN": "1", "A_SECRET": "true", "B_SECRET": "enabled", "GOOGLE_APPLICATION_CREDENTIALS": file,
                "TOKENS_SEEN": "12345678", "EDITOR": "emacs --quick", "EMPTY_TOKEN": "",
            ]) { $1 }
            let redactor = try bench.workbench.host.redactor
            let text = "1 true enabled \(file) 12345678 emacs --quick /usr/bin:/bin \(bench.home)"
            #expect(redactor.redact(text) == text && redactor.kept(text) == text)
        }
    }
}
