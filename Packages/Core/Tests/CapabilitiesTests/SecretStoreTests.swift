import Capabilities
import Testing

@Suite("Secrets of the environment")
struct SecretStoreTests {
    private let store = EnvironmentSecretStore {
        [
            "OPENAI_API_KEY": "one", "KAMIWAZA_PAT_API_KEY": "two", "EMPTY_API_KEY": "", "CI_TOKEN_API_KEY": "three",
            "PATH": "/bin", "_API_KEY": "x",
        ]
    }

    @Test(
        "have the variable that is the custom",
        arguments: [
            ("openai", "OPENAI_API_KEY"), ("kamiwaza.pat", "KAMIWAZA_PAT_API_KEY"), ("my-server", "MY_SERVER_API_KEY"),
            ("gpt4", "GPT4_API_KEY"), ("Two Words", "TWO_WORDS_API_KEY"), ("a_b", "A_B_API_KEY"),
            ("ci-token", "CI_TOKEN"), ("api-key", "API_KEY"), ("db.password", "DB_PASSWORD"),
            ("my-secret", "MY_SECRET"),
            ("tokens", "TOKENS_API_KEY"),
        ])
    func variables(name: String, variable: String) {
        #expect(SecretName(name).environmentVariable == variable)
        #expect("\(SecretName(name))" == name)
    }

    @Test("are found by name, and an empty one is none")
    func lookup() async {
        #expect(await store.secret(named: "openai")?.equals(Secret("one")) == true)
        #expect(await store.secret(named: "kamiwaza.pat")?.equals(Secret("two")) == true)
        #expect(await store.secret(named: "empty") == nil)
        #expect(await store.secret(named: "anthropic") == nil)
    }

    @Test("are listed by name, without those that are empty")
    func names() async {
        #expect(await store.names() == ["kamiwaza_pat", "openai"])
    }

    @Test("that are listed can be looked up")
    func listedAreFound() async {
        for name in await store.names() { #expect(await store.secret(named: name) != nil, "\(name)") }
    }

    @Test("are looked for only when one is wanted, each time anew")
    func lazily() async {
        let environment = ChangingEnvironment()
        let store = EnvironmentSecretStore { environment.read() }
        #expect(environment.reads == 0)
        #expect(await store.secret(named: "openai")?.equals(Secret("1")) == true)
        #expect(await store.secret(named: "openai")?.equals(Secret("2")) == true)
    }

    @Test("are never written, and the error says what to do")
    func readOnly() async {
        let error = await #expect(throws: SecretStoreError.self) { try await store.store(Secret("x"), named: "openai") }
        #expect(error?.code == "secrets.read-only")
        #expect(error?.exit == .denied)
        #expect(error?.message.contains("set OPENAI_API_KEY there") == true)
        await #expect(throws: SecretStoreError.self) { try await store.remove(named: "openai") }
    }
}
