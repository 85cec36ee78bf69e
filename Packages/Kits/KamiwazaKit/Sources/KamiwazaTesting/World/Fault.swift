public import HTTPCore
public import HTTPServer
public import JSON

/// What a path does instead of its work.
public enum Fault: Sendable {
    /// Answers this, whatever is asked.
    case answers(HTTPAnswer)
    /// Waits until the fault is gone, and then does its work.
    case held

    /// A status with a body in the platform's form, or any other.
    public static func status(_ status: HTTPStatus, _ body: JSON = ["detail": "made by a test"]) -> Fault {
        .answers(.json(body, status: status))
    }

    /// Text that is no JSON, as a gateway sends it.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> Fault {
        .answers(.text(text, status: status))
    }

    /// A page for people.
    public static func webPage(status: HTTPStatus = .ok) -> Fault {
        .answers(.bytes(Array(WebInterface.page.utf8), type: "text/html; charset=utf-8", status: status))
    }

    /// The bytes as they are, said to be JSON.
    public static func json(bytes: [UInt8]) -> Fault {
        .answers(.bytes(bytes, type: "application/json"))
    }

    public static func redirect(to place: String, status: HTTPStatus = HTTPStatus(307)) -> Fault {
        .answers(.redirect(to: place, status: status))
    }

    /// An answer that stops before its end.
    public static var cut: Fault {
        .answers(
            .stream("application/json", length: 1000) { body in
                try await body.write(#"{"access_token":"#)
                throw RequestProblem.badRequest("the answer was cut by a test")
            })
    }
}
