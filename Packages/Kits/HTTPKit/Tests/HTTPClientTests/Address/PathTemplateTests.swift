import Testing

@testable import HTTPClient

@Suite("Paths as they are recorded")
struct PathTemplateTests {
    @Test(
        "Words and versions of an API stay, and all that may be an id or a secret is left out",
        arguments: [
            ("/", "/"), ("/v1/chat/completions", "/v1/chat/completions"), ("/v1beta/models/", "/v1beta/models/"),
            ("/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server"),
            ("/v1/projects/4f2a/files", "/v1/projects/{}/files"),
            ("/v1/messages/count_tokens", "/v1/messages/count_tokens"),
            ("/services/T00/B00/abcDEFghi", "/services/{}/{}/{}"), ("/hook/abcdefghijklmnopqrstuvwx", "/hook/{}"),
            ("/a%2Fb/Ä", "/{}/{}"), ("/v12345/x", "/{}/x"), ("/v1gamma", "/{}"),
        ])
    func templates(path: String, template: String) {
        #expect(PathTemplate.of(path) == template)
    }
}
