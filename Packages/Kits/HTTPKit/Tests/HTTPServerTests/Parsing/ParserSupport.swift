import HTTPCore

@testable import HTTPServer

/// The output of a parser in a form that can be compared.
struct Parsed: Equatable, CustomStringConvertible {
    var requests: [String] = []
    var bodies: [String] = []
    var refusal: Int?

    var description: String { "\(requests) \(bodies) \(refusal.map(String.init) ?? "fine")" }

    /// Feeds the pieces in order.
    init(_ pieces: [[UInt8]], limits: RequestParser.Limits = .init()) {
        var parser = RequestParser(limits: limits)
        var body: [UInt8] = []
        do throws(RequestRefusal) {
            for piece in pieces {
                var offset = 0
                while let event = try parser.next(piece.span, &offset) {
                    switch event {
                    case .head(let head):
                        requests.append("\(head.method) \(head.target) \(head.host ?? "-") \(head.headers.count)")
                        body = []
                    case .body(let range): body += piece[range]
                    case .end: bodies.append(String(decoding: body, as: UTF8.self))
                    }
                }
            }
        } catch {
            refusal = error.status.code
        }
    }

    init(_ text: String) {
        self.init([Array(text.utf8)])
    }
}
