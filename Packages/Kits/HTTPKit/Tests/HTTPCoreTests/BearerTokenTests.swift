import HTTPCore
import Testing

@Suite("Bearer tokens in headers")
struct BearerTokenTests {
    @Test(
        "A token is what follows the scheme in the only such line",
        arguments: [
            ("Bearer abc", "abc"), ("bearer   a=b/c ", "a=b/c"), ("BEARER\u{20}x y", "x y"), ("Bearer ", nil),
            ("Bearer", nil), ("Basic abc", nil), ("", nil), ("abc", nil),
        ] as [(String, String?)])
    func reads(line: String, token: String?) {
        #expect((["authorization": line] as HTTPHeaders).bearerToken == token)
    }

    @Test("Without a line, or with several, there is none")
    func several() {
        #expect(HTTPHeaders().bearerToken == nil)
        #expect((["Authorization": "Bearer a", "authorization": "Bearer b"] as HTTPHeaders).bearerToken == nil)
    }
}
