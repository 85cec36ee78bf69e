import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Redirect policy")
struct RedirectPolicyTests {
    private func next(
        _ status: Int, _ location: String?, _ request: HTTPRequest, followed: Int = 0
    ) throws -> HTTPRequest? {
        var headers: HTTPHeaders = [:]
        headers["Location"] = location
        return try request.redirects.next(
            after: request, status: HTTPStatus(status), headers: headers, followed: followed)
    }

    private func request(_ method: HTTPMethod, _ url: String = "https://example.org/a") throws -> HTTPRequest {
        HTTPRequest(
            method, try HTTPURL(url),
            headers: [
                "Authorization": "Bearer x", "Cookie": "a=b", "X-API-Key": "k", "Host": "example.org",
                "Content-Type": "text/plain", "X-Mine": "1",
            ], body: method == .get ? .none : .text("body"))
    }

    @Test(
        "A redirect changes the method as RFC 9110 specifies",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"),
            (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
            (303, "GET", "GET"),
            (301, "GET", "GET"), (301, "HEAD", "HEAD"),
        ])
    func methods(_ status: Int, _ before: String, _ after: String) throws {
        let next = try #require(try next(status, "/b", try request(HTTPMethod(rawValue: before))))
        #expect(next.method.rawValue == after)
        #expect(next.url.text == "https://example.org/b")
        if before != "GET", after == "GET" {
            guard case .none = next.body else { return #expect(Bool(false), "a GET with the body of the POST") }
            #expect(next.headers["Content-Type"] == nil)
        } else {
            #expect(next.headers["Content-Type"] == "text/plain")
        }
        #expect(next.headers["Authorization"] == "Bearer x")
    }

    @Test(
        "Credentials stay at their origin",
        arguments: ["https://other.example/", "https://example.org:444/", "https://www.example.org/"])
    func credentials(_ location: String) throws {
        let next = try #require(try next(307, location, try request(.post)))
        // A header that is not known to be harmless may be a credential too.
        for name in ["Authorization", "Cookie", "X-API-Key", "Host", "X-Mine"] { #expect(next.headers[name] == nil) }
        #expect(next.headers["Content-Type"] == "text/plain")
    }

    @Test("A response without a location or without a redirect status is returned to the caller")
    func none() throws {
        #expect(try next(302, nil, try request(.get)) == nil)
        #expect(try next(200, "/b", try request(.get)) == nil)
        #expect(try next(304, "/b", try request(.get)) == nil)
        var unwilling = try request(.get)
        unwilling.redirects = .none
        #expect(try next(302, "/b", unwilling) == nil)
    }

    @Test(
        "A forbidden redirect is an error that states why",
        arguments: [
            ("http://example.org/", "from https to http"), ("ftp://example.org/", "not a valid address"),
            ("https://u:p@example.org/", "not a valid address"), ("https://[", "not a valid address"),
        ])
    func refused(_ location: String, _ reason: String) throws {
        let error = #expect(throws: HTTPError.self) { _ = try next(302, location, try request(.get)) }
        #expect(error?.kind == .redirect)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("The eleventh redirect is an error, and a redirect to http is followed if the request allows it")
    func limits() throws {
        #expect(try next(302, "/b", try request(.get), followed: 9) != nil)
        #expect(throws: HTTPError.self) { _ = try next(302, "/b", try request(.get), followed: 10) }
        var careless = try request(.get)
        careless.redirects.mayLoseTLS = true
        #expect(try next(302, "http://example.org/", careless)?.url.scheme == .http)
    }

    @Test("A redirect does not send a stream again and does not leave a Unix socket")
    func bodies() throws {
        var streaming = try request(.post)
        streaming.body = .stream(length: nil, AsyncThrowingStream<[UInt8], any Error> { $0.finish() })
        #expect(throws: HTTPError.self) { _ = try next(307, "/b", streaming) }
        #expect(try next(303, "/b", streaming) != nil)
        var local = try request(.get)
        local.unixSocket = "/run/lab.sock"
        #expect(try next(302, "/b", local)?.unixSocket == "/run/lab.sock")
        #expect(throws: HTTPError.self) { _ = try next(302, "https://other.example/", local) }
    }
}
