import Capabilities
import HTTPClient
import JSON
import Testing

@testable import AuthSignIn

@Suite("Session")
struct SessionTests {
    @Test("A session is decoded as it was encoded")
    func roundTrip() throws {
        var tokens = Session.sample("access-1")
        tokens.hasEnded = true
        let read = try Session(encoded: tokens.encoded)
        #expect(read.accessToken.equals(tokens.accessToken))
        #expect(read.refreshToken?.revealed == "refresh-0")
        #expect(read.expiry == tokens.expiry && read.received == tokens.received && read.kind == .tokens)
        #expect(read.origin == tokens.origin && read.userName == "ada" && read.hasEnded)

        let personal = Session(
            accessToken: Secret("pat"), kind: .personal(id: "jti-1", name: "laptop"), origin: "http://127.0.0.1:80")
        let again = try Session(encoded: personal.encoded)
        #expect(again.kind == .personal(id: "jti-1", name: "laptop"))
        #expect(again.refreshToken == nil && again.expiry == nil && again.userName == nil && !again.hasEnded)
    }

    @Test("Unknown members from a later version are ignored")
    func unknown() throws {
        let text = """
            {"version":1,"kind":"tokens","origin":"https://a:1","access_token":"t","colour":{"deep":[1]},"user":null}
            """
        #expect(try Session(encoded: Secret(text)).token == "t")
    }

    @Test(
        "A damaged session is rejected, and the error does not quote it",
        arguments: [
            "", "t0ken", #"{"access_token":"t0ken"}"#,
            #"{"version":2,"kind":"tokens","origin":"o","access_token":"t0ken"}"#,
            #"{"version":1,"kind":"tokens","origin":"o","access_token":""}"#,
            #"{"version":1,"kind":"tokens","access_token":"t0ken"}"#,
            #"{"version":1,"kind":"t0ken","origin":"o","access_token":"t0ken"}"#,
            #"{"version":1,"kind":"tokens","origin":"o","access_token":"t0ken","expires":"t0ken"}"#,
            #"{"version":1,"kind":"tokens","origin":"o","access_token":"t0ken""#,
        ])
    func damaged(text: String) throws {
        let error = try #require(throws: SignInError.self) { try Session(encoded: Secret(text)) }
        #expect(error.kind == .unreadable)
        expectClean(error, of: "t0ken")
    }

    @Test("Descriptions of a session show no token")
    func description() {
        let session = Session.sample("access-1")
        var shown = "\(session) \(String(reflecting: session)) \(session.encoded)"
        dump(session, to: &shown)
        #expect(!shown.contains("access-1") && !shown.contains("refresh-0"))
    }

    @Test("A token is renewed half a minute before its expiry, or in the second half of a short lifetime")
    func staleness() {
        let start = TestTime.start
        let usual = Session.sample("a")
        #expect(!usual.isStale(at: start.advanced(by: .seconds(269))))
        #expect(usual.isStale(at: start.advanced(by: .seconds(270))))
        #expect(usual.isStale(at: start.advanced(by: .seconds(100_000))))
        #expect(!usual.isStale(at: start.advanced(by: .seconds(-100_000))))
        let short = Session.sample("a", expiresIn: .seconds(20))
        #expect(!short.isStale(at: start))
        #expect(short.isStale(at: start.advanced(by: .seconds(10))))
        #expect(!Session.sample("a", expiresIn: nil).isStale(at: start.advanced(by: .seconds(1 << 30))))
    }

    @Test("A session is bound to the scheme, host and port of its server")
    func origin() throws {
        let session = Session.sample("a")
        #expect(session.isFor(try HTTPURL("https://LAB.example/api/v1?x=1")))
        for other in ["http://lab.example:443/", "https://lab.example:8443/", "https://lab.example.evil.com/"] {
            #expect(!session.isFor(try HTTPURL(other)))
        }
    }

    @Test("A new access token keeps the refresh token, the server and the user")
    func renewed() {
        let answer = TokenAnswer(
            accessToken: Secret("new"), refreshToken: nil, expiresIn: 60, received: TestTime.start)
        let session = Session.sample("old").renewed(by: answer)
        #expect(session.token == "new" && session.refreshToken?.revealed == "refresh-0")
        #expect(session.userName == "ada" && session.expiry == TestTime.start.advanced(by: .seconds(60)))
    }
}
