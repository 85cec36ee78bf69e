import Capabilities
import Testing

@Suite("EnvironmentSecretStore")
struct SecretStoreTests {
    private let store = EnvironmentSecretStore {
        [
            "OPENAI_API_KEY": "one", "KAMIWAZA_PAT_API_KEY": "two", "EMPTY_API_KEY": "", "CI_TOKEN_API_KEY": "three",
            "PATH": "/bin", "_API_KEY": "x",
        ]
    }

    @Test(
        "A name has its conventional variable",
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

    @Test(
        "The variable with the address is beside that with the key",
        arguments: [
            ("openai", "OPENAI_BASE_URL"), ("my-server", "MY_SERVER_BASE_URL"), ("my-api-key", "MY_BASE_URL"),
            ("ci-token", "CI_TOKEN_BASE_URL"), ("api-key", "API_KEY_BASE_URL"),
        ])
    func addresses(name: String, variable: String) {
        #expect(SecretName(name).addressVariable == variable)
    }

    @Test("A secret is found by name, and an empty one is absent")
    func lookup() async {
        #expect(await store.secret(named: "openai")?.equals(Secret("one")) == true)
        #expect(await store.secret(named: "kamiwaza.pat")?.equals(Secret("two")) == true)
        #expect(await store.secret(named: "empty") == nil)
        #expect(await store.secret(named: "anthropic") == nil)
    }

    @Test("Names are listed without empty secrets")
    func names() async {
        #expect(await store.names() == ["kamiwaza_pat", "openai"])
    }

    @Test("Every listed secret can be read")
    func listedAreFound() async {
        for name in await store.names() { #expect(await store.secret(named: name) != nil, "\(name)") }
    }

    @Test("The environment is read only when a secret is needed, and again each time")
    func lazily() async {
        let environment = ChangingEnvironment()
        let store = EnvironmentSecretStore { environment.read() }
        #expect(environment.reads == 0)
        #expect(await store.secret(named: "openai")?.equals(Secret("1")) == true)
        #expect(await store.secret(named: "openai")?.equals(Secret("2")) == true)
    }

    @Test("Writing is refused with what to do")
    func readOnly() async {
        let error = await #expect(throws: SecretStoreError.self) { try await store.store(Secret("x"), named: "openai") }
        #expect(error?.code == "secrets.read-only")
        #expect(error?.exit == .denied)
        #expect(error?.message.contains("set OPENAI_API_KEY there") == true)
        await #expect(throws: SecretStoreError.self) { try await store.remove(named: "openai") }
    }
}
