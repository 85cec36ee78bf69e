import ProcessKit
import Testing

@Suite("Environment of a child")
struct CommandEnvironmentTests {
    @Test(
        "Variables whose names look like secrets are not inherited",
        arguments: [
            "OPENAI_API_KEY", "API_KEY", "GITHUB_TOKEN", "token", "Client_Secret", "DB_PASSWORD",
            "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OTEL_EXPORTER_OTLP_HEADERS",
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        ])
    func removed(name: String) {
        #expect(CommandEnvironment.inheriting([name: "x", "HOME": "/h"]).variables == ["HOME": "/h"])
    }

    @Test(
        "All other variables are inherited",
        arguments: ["PATH", "TOKENIZERS_PARALLELISM", "MONKEY", "XTOKEN", "KEYBOARD"])
    func kept(name: String) {
        #expect(CommandEnvironment.inheriting([name: "x"]).variables == [name: "x"])
    }

    @Test("An added variable is kept even if its name looks like a secret")
    func added() {
        let environment = CommandEnvironment.inheriting(
            ["A": "1", "B": "2", "X_TOKEN": "no"], removing: ["A", "TOKEN"], adding: ["B": "3", "X_TOKEN": "yes"])
        #expect(environment == ["B": "3", "X_TOKEN": "yes"])
    }
}
